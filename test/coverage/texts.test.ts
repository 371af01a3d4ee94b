// engines: embedded; process: shared
/** Each change that a row makes to the source can still be made: a name that changed is noticed by the check. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rows } from './rows.ts'

test('every mutation can be made: its text is in its file exactly once', () => {
  for (const [what, , file, from, to] of rows) {
    assert.is(readFileSync(`src/${file}`, 'utf8').split(from).length, 2, `${what}: src/${file}`)
    assert.is.not(from, to, what)
  }
})

test.run()
