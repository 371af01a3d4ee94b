/** The exit codes of commands, and the error that carries one. */

export const exitCodes = { ok: 0, failed: 1, usage: 2, check: 3, auth: 4, network: 5, interrupted: 130 } as const

const meanings: Record<keyof typeof exitCodes, string> = {
  ok: 'done',
  failed: 'failed',
  usage: 'wrong usage',
  check: 'a check failed',
  auth: 'not allowed',
  network: 'no connection',
  interrupted: 'interrupted',
}

export const exitCodesInWords = Object.entries(meanings)
  .map(([name, meaning]) => `${exitCodes[name as keyof typeof exitCodes]} ${meaning}`)
  .join(', ')

export interface FaultDetails {
  code: number
  /** What to do, in whole sentences. */
  hint?: string | undefined
  status?: number | undefined
  /** Field name → what is wrong with it. */
  errors?: Readonly<Record<string, readonly string[]>> | undefined
}

/** A command can't do what it was asked to. The message says what and why, the hint what helps. */
export class Fault extends Error {
  readonly details: FaultDetails
  /** What people type to fill a field that is refused. */
  wordFor = (field: string): string => field
  constructor(message: string, details: FaultDetails) {
    super(message)
    this.details = details
  }
}

/** Returns the exit code for the status of a response. */
export function codeForStatus(status: number): number {
  if (status < 400) return exitCodes.ok
  if (status === 401 || status === 403) return exitCodes.auth
  // A proxy could not reach the marketplace.
  if (status >= 502 && status <= 504) return exitCodes.network
  return exitCodes.failed
}
