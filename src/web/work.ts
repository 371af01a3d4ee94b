import type { Caller } from '../market/market.ts'
import { Gone } from './bodies/body.ts'
/** A request on its way to its verb. */
import type { Credential } from './credentials.ts'
import type { Input } from './input.ts'
import type { Call } from './response.ts'
export interface Work {
  readonly call: Call
  readonly credential: Credential | null
  /** Parses the input at the first call, once the caller is known to be allowed. Throws a refusal. */
  input(): Input
}

/** Returns the caller, with a signal for verbs that wait before they work, as the client may disconnect meanwhile. */
export function callerOf({ req, res, address }: Call): Caller {
  const left = new AbortController()
  res.once('close', () => {
    if (!res.writableEnded) left.abort(new Gone())
  })
  return {
    address,
    userAgent: req.headers['user-agent'],
    gone: left.signal,
  }
}
