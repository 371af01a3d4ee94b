import type { Credential } from './credentials.ts'
import type { Input } from './input.ts'
import type { Call } from './response.ts'

/** What the unit of a request needs. */
export interface Work {
  readonly call: Call
  readonly credential: Credential | null
  /** Reads what arrived when it is first asked for, which only those who may call get to. Throws a refusal. */
  input(): Input
}
