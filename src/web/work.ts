import type { Credential } from './credentials.ts'
import type { Input } from './input.ts'
import type { Call } from './response.ts'

/** A request on its way to its verb. */
export interface Work {
  readonly call: Call
  readonly credential: Credential | null
  /** Parses the input at the first call, once the caller is known to be allowed. Throws a refusal. */
  input(): Input
}
