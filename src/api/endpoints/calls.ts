/** The types of calls by a client: the input as one object, and the `data` of the response. */
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

/** The input of an endpoint: path parameters, query and body in one object. */
export type CallInput<Name extends EndpointName> = InputFor<Endpoints[Name]>

/** The `data` of an endpoint's response. Times are ISO 8601 strings, money is in cents. */
export type CallReply<Name extends EndpointName> = ReplyFor<Endpoints[Name]>

/** A file to upload. Source: A-21. */
export interface FileToSend {
  name: string
  content: Blob | Uint8Array<ArrayBuffer>
}

/** A downloaded file. Source: A-19. */
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
    : E['stream'] extends true
      ? AsyncIterable<z.output<E['reply']>>
      : z.output<E['reply']> | (E['created'] extends z.ZodType ? z.output<E['created']> : never)

type Body<T> = T extends z.ZodType ? z.input<T> : unknown
type Form<T extends z.ZodType> = z.input<T> & { files: readonly FileToSend[] }
type Query<T> = T extends z.ZodType ? Partial<z.output<T>> : unknown
