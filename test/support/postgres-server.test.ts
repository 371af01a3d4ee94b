// engines: embedded; process: own
/** What the servers of tests leave behind. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { removeLeft } from './postgres-server.ts'

test('the data of a run that was killed is removed by the next; that of one which goes on stays', () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-left-'))
  const { pid: gone } = spawnSync('true')
  const named = (pid: number) => `marketplace-postgres-${pid}-a1B2c3`
  for (const name of [named(gone), named(process.pid), 'something else'])
    mkdirSync(join(place, name, 'base'), { recursive: true })
  removeLeft(place)
  assert.equal(readdirSync(place).sort(), [named(process.pid), 'something else'].sort())
  rmSync(place, { recursive: true })
})

test.run()
