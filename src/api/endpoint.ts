/** What an endpoint is: one record that drives routing, validation, auth, limits, the client and the documents. */
import type * as z from 'zod'
import type { FailureName } from './failures.ts'
import type { KeptFile } from './file-kinds.ts'
import type { RateCategory } from './limits.ts'
import type { Json } from './reply.ts'

/**
 * Who may call. `public`: anyone (a bad credential counts as none, A-15); `key-or-session`; `key`: API key only;
 * `session`: cookie only (a key → 403, A-34); `signature`: HMAC headers, checked by the verb over the raw body.
 */
export type Auth = 'public' | 'key-or-session' | 'key' | 'session' | 'signature'

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: `/api/${string}`
  readonly auth: Auth
  readonly role?: 'builder' | 'admin'
  readonly rate: RateCategory
  /** The category of a request whose body is multipart. Source: A-40. */
  readonly rateOfMultipart?: RateCategory
  readonly summary: string
  /** What the summary leaves open, in whole sentences. */
  readonly description?: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Shape of a signed body. The verb reads it itself, once it has checked the signature. */
  readonly signed?: z.ZodType
  /** A body for the documents, where one made from the shape would not do. */
  readonly example?: object
  /** Shape of `data`; of one item where `list` is set. */
  readonly reply: z.ZodType
  readonly status?: 201
  /** Shape of `data` when the verb answers `Created` where it else answers 200. */
  readonly created?: z.ZodType
  /** Taken as multipart/form-data too: the shape of its fields. Files come in parts named `files`. Source: A-21. */
  readonly multipart?: z.ZodObject
  /** Answers the bytes of a file, outside the envelope. */
  readonly download?: true
  /** Paginated, under this key of `data`. */
  readonly list?: 'items' | 'tasks'
  /** The verb may hand over the page's items as JSON that is ready. */
  readonly kept?: true
  /** How the verb meets the database: one read, one transaction, or units of its own making. */
  readonly unit: 'read' | 'write' | 'own'
  /**
   * Rows about the task `params.id` that the verb is sure to ask for: asked for before it is known who asks, where that
   * saves round trips. In a `write` unit the task is held.
   */
  readonly prefetch?: 'whole task' | 'task' | 'held task' | 'held task and agent'
  /** The verb answers `{ data, session }`, and the session (or its end, null) is set as the cookie. Source: A-10. */
  readonly sets?: 'session'
  /** The answer holds a secret that is shown this once. Source: A-39. */
  readonly showsSecret?: true
  /** Closed to suspended accounts. Source: A-12. */
  readonly whenSuspended?: 'refused'
  /**
   * Makes the database larger and ends nothing that is open: refused where the database is full. Whatever does not say so
   * goes on there, so that nobody's work or money is held up by a record that forgot it. `partly`: only some of what it
   * takes does, and its verb knows which. Source: A-50.
   */
  readonly grows?: true | 'partly'
  /** Exists in the simulator alone. Source: A-44. */
  readonly only?: 'dev'
  /** Refusals beyond those that follow from auth, role, rate and shapes. */
  readonly refusals?: readonly FailureName[]
  /** The section of the interface, or the decision, that this record holds. */
  readonly source: string
}

/** Keeps the literal types of a record, so that its verb's types follow from it. */
export const endpoint = <const E extends Endpoint>(record: E): E => record

/** Every POST of an account may be repeated safely, but those that make sessions. Source: A-39. */
export const takesIdempotencyKey = ({ method, auth, path }: Endpoint) =>
  method === 'POST' && auth !== 'public' && auth !== 'signature' && !path.startsWith('/api/auth/')

type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type Infer<T> = T extends z.ZodType ? z.infer<T> : unknown

/** What the verb of a record is given; `files` came with a multipart body. */
export type InputOf<E extends Endpoint> = Fields<E> &
  (E['multipart'] extends z.ZodType ? { readonly files: readonly KeptFile[] } : unknown)

interface Fields<E extends Endpoint> {
  readonly params: { readonly [name in ParamNames<E['path']>]: string }
  readonly query: Infer<E['query']>
  readonly body: E['multipart'] extends z.ZodType ? Infer<E['body']> | Infer<E['multipart']> : Infer<E['body']>
}

/** One page of a list; the wire adds the `pagination` of I-list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

/** A page whose items are a JSON list already. */
export interface ReadyPage {
  readonly items: Json
  readonly total: number
}

type DataOf<E extends Endpoint> = E['list'] extends string
  ? Page<z.infer<E['reply']>> | (E['kept'] extends true ? ReadyPage : never)
  : z.infer<E['reply']>

/** What the verb of a record resolves to. */
export type ReplyOf<E extends Endpoint> = E['sets'] extends 'session'
  ? { readonly data: DataOf<E>; readonly session: string | null }
  : DataOf<E>
