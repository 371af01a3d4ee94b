/** Notices what becomes of output: a reader that has ended is no fault, a disk that takes nothing is one. */
import { withDiskReason } from './disk-faults.ts'

let fault: Error | undefined
let isWatched = false

/** From now on, output that is lost ends no process. */
export function watchOutput(): void {
  fault = undefined
  if (isWatched) return
  isWatched = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fault ??= error
  })
  // Nobody is left to tell of this one.
  process.stderr.on('error', () => {})
}

/** Throws if something that was written to stdout since is lost. */
export async function proveWritten(): Promise<void> {
  // Node writes at once, and tells of a fault a little later.
  await new Promise(setImmediate)
  if (fault) throw withDiskReason(fault, 'What was to be printed is lost', 'Make room, or send it elsewhere.')
}
