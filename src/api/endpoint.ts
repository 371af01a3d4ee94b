/** An endpoint is one record. Routing, validation, authentication, limits, the client and the documents follow from it. */
import type * as z from 'zod'
import type { FailureName } from './failures.ts'
import type { KeptFile } from './file-kinds.ts'
import type { RateCategory } from './limits.ts'
import type { EventStream, Json } from './reply.ts'

/**
 * Who may call. `public`: anyone (a bad credential counts as none, A-15); `key-or-session`; `key`: API key only;
 * `session`: cookie only (a key → 403, A-34); `signature`: HMAC headers, checked by the verb over the raw body.
 */
export type Auth = 'public' | 'key-or-session' | 'key' | 'session' | 'signature'

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Begins with `/api/`, unless its response is a page. */
  readonly path: `/${string}`
  readonly auth: Auth
  readonly role?: 'builder' | 'admin'
  readonly rate: RateCategory
  /** The category of a request whose body is multipart. Source: A-40. */
  readonly rateOfMultipart?: RateCategory
  readonly summary: string
  /** More than the summary says, in whole sentences. */
  readonly description?: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Shape of a signed body. The verb parses it itself after it has checked the signature. */
  readonly signed?: z.ZodType
  /** An example body for the documents, where one that is made from the shape would be wrong. */
  readonly example?: object
  /** Shape of `data`, or of one item if `list` is set. */
  readonly reply: z.ZodType
  readonly status?: 201
  /** Shape of `data` where the verb may return `Created` (201) instead of 200. */
  readonly created?: z.ZodType
  /** Shape of the fields where multipart/form-data is accepted too. Files come in parts named `files`. Source: A-21. */
  readonly multipart?: z.ZodObject
  /** The response is the bytes of a file, outside the envelope. */
  readonly download?: true
  /** The response is a stream of server-sent events, outside the envelope. `reply` is the data of each. */
  readonly stream?: true
  /** A page for people, outside the interface and its envelope: its response is HTML, and so are its refusals. */
  readonly page?: true
  /** The body is that of an HTML form, which only a page of this marketplace may send. */
  readonly form?: true
  /** Paginated, under this key of `data`. */
  readonly list?: 'items' | 'tasks'
  /** The verb may return the page's items as JSON text. */
  readonly kept?: true
  /** How the verb uses the database: one read, one write transaction, or units that it opens itself. */
  readonly unit: 'read' | 'write' | 'own'
  /**
   * Rows of the task `params.id` that the verb surely needs. Where that saves round trips, they are queried before the
   * caller is identified. In a `write` unit the task is locked.
   */
  readonly prefetch?: 'whole task' | 'task' | 'locked task' | 'locked task and agent'
  /** The verb returns `{ data, session }`. The session, or its end (null), is set as the cookie. Source: A-10. */
  readonly sets?: 'session'
  /** The response contains a secret that is shown only once. Source: A-39. */
  readonly showsSecret?: true
  /** Closed to suspended accounts. Source: A-12. */
  readonly whenSuspended?: 'refused'
  /**
   * The request adds data and finishes no open work, so it is refused when the database is full. Records without this flag
   * still work then: a forgotten flag must not block anybody's work or money. `partly`: only some requests add data, and
   * the verb decides. Source: A-50.
   */
  readonly grows?: true | 'partly'
  /** Exists only in the simulator. Source: A-44. */
  readonly only?: 'dev'
  /** Only for programs on this machine and pages of this marketplace. Source: A-310. */
  readonly near?: true
  /** Refusals besides those that follow from `auth`, `role`, `rate` and the shapes. */
  readonly refusals?: readonly FailureName[]
  /** The rules of the interface, or the decisions, that this record implements. */
  readonly source: string
}

/** Each may be given by a function, which makes it when it is first asked for: all at once take 20 of the 130 ms in which a `dev` loads. */
const SHAPES = ['query', 'body', 'signed', 'reply', 'created', 'multipart'] as const
type Shapes = (typeof SHAPES)[number]

type Given = {
  readonly [Key in keyof Endpoint]: Key extends Shapes ? Endpoint[Key] | (() => Endpoint[Key]) : Endpoint[Key]
}
type Made<G> = { readonly [Key in keyof G]: G[Key] extends () => infer Shape ? Shape : G[Key] }

/** Keeps the literal types of a record, from which the types of its verb follow. */
export function endpoint<const G extends Given>(given: G): Made<G> {
  const record: { [Key in Shapes]?: unknown } = given
  for (const name of SHAPES) {
    const make = record[name]
    if (typeof make !== 'function') continue
    const get = () => {
      const value = make()
      Object.defineProperty(record, name, { value })
      return value
    }
    Object.defineProperty(record, name, { get, enumerable: true, configurable: true })
  }
  return record as Made<G>
}

/** Every authenticated POST takes an Idempotency-Key, except those under /api/auth/. Source: A-39. */
export const acceptsIdempotencyKey = ({ method, auth, path }: Endpoint) =>
  method === 'POST' && auth !== 'public' && auth !== 'signature' && !path.startsWith('/api/auth/')

type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type Infer<T> = T extends z.ZodType ? z.infer<T> : unknown

/** What the verb of a record receives. `files` come from a multipart body. */
export type InputOf<E extends Endpoint> = Fields<E> &
  (E['multipart'] extends z.ZodType ? { readonly files: readonly KeptFile[] } : unknown)

interface Fields<E extends Endpoint> {
  readonly params: { readonly [name in ParamNames<E['path']>]: string }
  readonly query: Infer<E['query']>
  readonly body: E['multipart'] extends z.ZodType ? Infer<E['body']> | Infer<E['multipart']> : Infer<E['body']>
}

/** One page of a list. The response adds the `pagination` of I-list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

/** A page whose items are already JSON text, together or each by itself. */
export interface ReadyPage {
  readonly items: Json | readonly Json[]
  readonly total: number
}

type DataOf<E extends Endpoint> = E['list'] extends string
  ? Page<z.infer<E['reply']>> | (E['kept'] extends true ? ReadyPage : never)
  : z.infer<E['reply']>

/** What the verb of a record resolves to. */
export type ReplyOf<E extends Endpoint> = E['sets'] extends 'session'
  ? { readonly data: DataOf<E>; readonly session: string | null }
  : E['stream'] extends true
    ? EventStream
    : DataOf<E>
