/** Runs the test files whose addresses come on stdin, one after another, and says after each that it has ended. */
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { waitForSlowAddresses } from '../../src/world/egress/happy-eyeballs.ts'

// As the program does: of a name with two addresses none is given up because the machine is busy.
waitForSlowAddresses()

const state = globalThis as { UVU_DEFER?: boolean; UVU_QUEUE?: unknown[][]; UVU_INDEX?: number }
// Told before it is loaded, uvu leaves it to `exec` when the tests of a file run.
state.UVU_DEFER = true
const { exec } = await import('uvu')
state.UVU_INDEX = 0

for await (const path of createInterface({ input: process.stdin })) {
  state.UVU_QUEUE!.splice(0, Number.POSITIVE_INFINITY, [null])
  await import(pathToFileURL(path).href)
  await exec()
  // On a line of its own, which no test prints; the exit code of the process is what the last file makes it.
  process.stdout.write(`\n${process.argv[2]}\n`)
}
