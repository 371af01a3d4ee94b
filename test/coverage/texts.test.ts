// engines: embedded; process: shared
/** Each change that a row makes to the source can still be made: a name that changed is noticed by the check. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { editsOf } from './row.ts'
import { rows } from './rows.ts'

test('every mutation can be made: its text is in its file exactly once', () => {
  for (const row of rows) {
    const [what] = row
    for (const [file, from, to] of editsOf(row)) {
      assert.is(readFileSync(`src/${file}`, 'utf8').split(from).length, 2, `${what}: src/${file}`)
      assert.is.not(from, to, what)
    }
  }
})

test.run()
