// engines: embedded; process: own; lengths: long
/** A start with a long journal behind it. How long it takes: npm run test:crash. */
import { test } from 'uvu'
import { inFolder } from '../cli/program.ts'
import { startAfter } from './start.ts'

test(
  'killed with a long journal, the server starts again and has all of its records',
  inFolder(async folder => {
    await startAfter(folder, 4_000, 1)
  }),
)

test.run()
