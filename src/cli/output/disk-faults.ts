/** Says in a sentence what the disk refuses and why, with a next step. */

import { dirname } from 'node:path'
import { exitCodes, Fault } from '../exit-codes.ts'
import { takeFilesWhole, write } from './ui.ts'

const MAKE_ROOM = 'Make room, or name a file on another disk.'
const NAME_ANOTHER = 'Name another file, or run it as a user who may write there.'
const LOOK_AT_PATH = 'Look at each part of that path, or name another file.'

const refusals: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ['this user has no right to', NAME_ANOTHER],
  EPERM: ['this user has no right to', NAME_ANOTHER],
  EROFS: ['it is on a read-only disk', MAKE_ROOM],
  ENOSPC: ['the disk is full', MAKE_ROOM],
  EDQUOT: ["this user's share of the disk is full", MAKE_ROOM],
  EFBIG: ['files may not become so large here (ulimit -f)', MAKE_ROOM],
  EIO: ['the disk fails', MAKE_ROOM],
  ENOTDIR: ['a part of its path is no folder', LOOK_AT_PATH],
  EEXIST: ['a part of its path is no folder', LOOK_AT_PATH],
  EISDIR: ['it is a folder', LOOK_AT_PATH],
  ENOENT: ['there is no such file or folder', LOOK_AT_PATH],
  ENAMETOOLONG: ['that is too long for a name', LOOK_AT_PATH],
  ELOOP: ['its links lead in a circle', LOOK_AT_PATH],
  EMFILE: ['too many files are open (ulimit -n)', 'Allow more, such as: ulimit -n 4096'],
  ENFILE: ['too many files are open on this machine', 'Try again when other programs have ended.'],
}

/** Makes one sentence of `what` and the reason, if the disk has refused. Other errors stay as they are. */
export function withDiskReason(error: Error, what: string, hint: string): Error {
  const [reason] = refusals[codeOf(error) ?? ''] ?? []
  return reason === undefined ? error : new Fault(`${what}: ${reason}`, { code: exitCodes.failed, hint })
}

/** Without a reason that is known, the system's own words. */
export const diskReason = (error: Error) => refusals[codeOf(error) ?? '']?.[0] ?? error.message

/** An error for people has the system's own as its cause. */
function codeOf(error: Error): string | undefined {
  const { code, syscall = '', cause } = error as NodeJS.ErrnoException
  if (/^(?:listen|accept|connect|bind|getaddrinfo|spawn|kill|uv_)/.test(syscall)) return undefined // of a port or a program
  return code ?? (cause instanceof Error ? codeOf(cause) : undefined)
}

/** For what no command explains better: every command ends with it, so that none shows the system's own words for a file. */
export function withSystemReason(error: Error): Error {
  const { syscall, path, dest, code = '' } = error as NodeJS.ErrnoException & { dest?: string }
  if (syscall === 'uv_cwd') {
    const hint = 'Go to one that is there, such as: cd ~'
    return new Fault('The folder that you are in has been deleted', { code: exitCodes.failed, hint })
  }
  if (syscall === 'mkdtemp' && path)
    return withDiskReason(error, `No temporary folder can be made in ${dirname(path)}`, 'TMPDIR names another place.')
  const [, hint] = refusals[code] ?? []
  if (syscall === undefined || hint === undefined) return error
  const verb = READS_OR_WRITES.test(syscall) && hint !== MAKE_ROOM ? 'used' : 'written'
  return withDiskReason(error, `${dest ?? path ?? 'A file'} can't be ${verb}`, hint)
}

/** Calls whose name does not say which of the two was wanted. */
const READS_OR_WRITES = /^(?:open|read|scandir|l?stat|access|close|realpath)/

/** Notices what becomes of output: a reader that has ended is no fault, a disk that takes nothing is one. */
let fault: Error | undefined
let isWatched = false

/** From now on, output that is lost ends no process. */
export function watchOutput(): void {
  fault = undefined
  if (isWatched) return
  isWatched = true
  takeFilesWhole()
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
