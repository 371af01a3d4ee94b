// engines: embedded; process: own; lengths: long
/** How a server ends: drained by a signal, at once by a second one, with a sentence when the disk fails. Source: A-4. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { drainRounds, endedTwice } from './ends.ts'

test(
  'SIGTERM under load: exit 0, and everything that was answered is there',
  inFolder(async folder => {
    const rounds = 2
    assert.is((await drainRounds(folder, rounds, 5, false)).length, rounds)
  }),
)

test(
  'a second signal ends the process at once, though a request is under way',
  inFolder(async folder => assert.is(await endedTwice(folder), 130)),
)

test.run()
