/** Says in a sentence why dev can't keep its state, and which flags avoid that. */
import { exitCodes, Fault } from '../exit-codes.ts'
import { nextSteps } from '../next-steps.ts'
import type { StateFolder } from './state-folder.ts'

const why: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is on a read-only disk',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's share of the disk is full",
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'a part of its path is no folder',
}

/** Other errors stay as they are. */
export function withDiskFault(error: Error, { folder }: StateFolder): Error {
  const words = why[codeOf(error) ?? '']
  if (folder === null || words === undefined) return error
  const hint = `${nextSteps.startEphemeral()} keeps nothing; --db FILE keeps it elsewhere.`
  return new Fault(`dev can't keep its state in ${folder}: ${words}`, { code: exitCodes.failed, hint })
}

/** An error for people has the system's own as its cause. */
function codeOf(error: Error): string | undefined {
  const { code, cause } = error as NodeJS.ErrnoException
  return code ?? (cause instanceof Error ? codeOf(cause) : undefined)
}
