/** Types that tie each endpoint record to the verb that serves it, at compile time. */
import type { Auth, Endpoint, InputOf, ReplyOf } from '../api/endpoint.ts'
import type { EndpointName, Endpoints } from '../api/endpoints/index.ts'
import type { Actor, Ctx, OwnCtx, ReadCtx } from './market.ts'

/** What a verb finds out about the sender of a signed request. It goes to the log, and never into the response. */
interface Sender {
  /** The agent whose secret the signature is checked with. */
  agentId: string | null
  /** Why the signature was refused. */
  fault: string | null
}

/** The parts of a signed request, unverified. */
export interface SignedCallback {
  readonly timestamp: string | undefined
  readonly signature: string | undefined
  /** Content-Type. */
  readonly type: string | undefined
  readonly raw: Buffer
  readonly sender: Sender
  /** All headers as they came: name, value, name, value. */
  readonly rawHeaders: readonly string[]
}

type ActorOf<A extends Auth> = A extends 'public' ? Actor | null : A extends 'signature' ? null : Actor

type UnitCtx<E extends Endpoint> = E['unit'] extends 'read' ? ReadCtx : E['unit'] extends 'write' ? Ctx : OwnCtx

type Input<E extends Endpoint> = E['auth'] extends 'signature'
  ? InputOf<E> & { readonly signed: SignedCallback }
  : InputOf<E>

/** The verb of one record. Resolves to the `data` of the response, or throws a Refusal. */
type VerbOf<E extends Endpoint> = (
  ctx: UnitCtx<E> & { readonly actor: ActorOf<E['auth']> },
  input: Input<E>,
) => Promise<ReplyOf<E>>

export type Verb<Name extends EndpointName> = VerbOf<Endpoints[Name]>

export type Verbs = { readonly [Name in EndpointName]: Verb<Name> }
