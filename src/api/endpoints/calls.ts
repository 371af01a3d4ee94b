/** The types of a call as a client makes it: what it sends in one object, and the `data` that it gets. */
import type * as z from 'zod'
import type { Endpoint, InputOf } from '../endpoint.ts'
import type { EndpointName, Endpoints } from './index.ts'

/** Source: I-list. */
export interface Pagination {
  page: number
  limit: number
  total: number
  totalPages: number
  hasMore: boolean
}

/** Path parameters, query and body in one object. */
export type CallInput<Name extends EndpointName> = InputFor<Endpoints[Name]>

/** `data` as it is on the wire. */
export type CallReply<Name extends EndpointName> = ReplyFor<Endpoints[Name]>

/** A file on its way to the marketplace. Source: A-21. */
export interface FileToSend {
  name: string
  content: Blob | Uint8Array<ArrayBuffer>
}

/** A file as the marketplace gives it. Source: A-19. */
export interface ReceivedFile {
  name: string
  mimeType: string
  bytes: Uint8Array
}

export type InputFor<E extends Endpoint> = InputOf<E>['params'] &
  Query<E['query']> &
  (E['multipart'] extends z.ZodType ? Body<E['body']> | Form<E['multipart']> : Body<E['body']>) &
  Body<E['signed']>

export type ReplyFor<E extends Endpoint> = E['list'] extends string
  ? { [key in E['list']]: z.output<E['reply']>[] } & { pagination: Pagination }
  : E['download'] extends true
    ? ReceivedFile
    : z.output<E['reply']> | (E['created'] extends z.ZodType ? z.output<E['created']> : never)

type Body<T> = T extends z.ZodType ? z.input<T> : unknown
type Form<T extends z.ZodType> = z.input<T> & { files: readonly FileToSend[] }
type Query<T> = T extends z.ZodType ? Partial<z.output<T>> : unknown
