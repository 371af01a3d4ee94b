/** Says in a sentence what the disk refuses and why, with a next step. */

import { dirname } from 'node:path'
import { exitCodes, Fault } from '../exit-codes.ts'
import { write } from './ui.ts'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is on a read-only disk',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's share of the disk is full",
  EFBIG: 'files may not become so large here (ulimit -f)',
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'a part of its path is no folder',
  ENOENT: 'there is no such folder, and none can be made',
}

/** Makes one sentence of `what` and the reason, if the disk has refused. Other errors stay as they are. */
export function withDiskReason(error: Error, what: string, hint: string): Error {
  const reason = reasons[codeOf(error) ?? '']
  return reason === undefined ? error : new Fault(`${what}: ${reason}`, { code: exitCodes.failed, hint })
}

/** Without a reason that is known, the system's own words. */
export const diskReason = (error: Error) => reasons[codeOf(error) ?? ''] ?? error.message

/** An error for people has the system's own as its cause. */
function codeOf(error: Error): string | undefined {
  const { code, syscall = '', cause } = error as NodeJS.ErrnoException
  if (/^(?:listen|connect|bind|getaddrinfo|spawn)/.test(syscall)) return undefined // of a port or a program
  return code ?? (cause instanceof Error ? codeOf(cause) : undefined)
}

/** For what no command explains better: a folder that was deleted while the shell is in it, a disk that takes nothing. */
export function withSystemReason(error: Error): Error {
  const { syscall, path, code } = error as NodeJS.ErrnoException
  if (syscall === 'uv_cwd') {
    const hint = 'Go to one that is there, such as: cd ~'
    return new Fault('The folder that you are in has been deleted', { code: exitCodes.failed, hint })
  }
  if (syscall === 'mkdtemp' && path)
    return withDiskReason(error, `No temporary folder can be made in ${dirname(path)}`, 'TMPDIR names another place.')
  if (syscall === undefined || !refusesWrites.includes(code ?? '')) return error
  return withDiskReason(error, `${path ?? 'A file'} can't be written`, 'Make room, or name a file on another disk.')
}

const refusesWrites = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']

/** Notices what becomes of output: a reader that has ended is no fault, a disk that takes nothing is one. */
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

/** Ends the process after the disk failed, because nothing can be made durable any more. */
export function endAfterDiskFailure(error: Error): void {
  write(process.stderr, `${error.message}\n`)
  process.exit(1)
}
