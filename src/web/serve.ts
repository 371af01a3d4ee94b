/** The steps between a request and its verb: credential, body, input, unit, answer. */
import { type Endpoint, type Page, type ReadyPage, takesIdempotencyKey } from '../api/endpoint.ts'
import { Refusal, refuse } from '../api/failures.ts'
import { Created, Download, Json } from '../api/reply.ts'
import { aheadOf, isGlance } from '../market/ahead.ts'
import { dropFiles } from '../market/files.ts'
import type { KeptAnswer } from '../market/idempotency.ts'
import type { Actor, Market } from '../market/market.ts'
import type { Reader, Tx } from '../store/db.ts'
import type { Call } from './answer.ts'
import { isMultipart, readBody } from './body.ts'
import {
  type Authenticate,
  admit,
  type Credential,
  checkCredential,
  isCrossSite,
  readCredential,
  sessionCookie,
} from './credentials.ts'
import { sendFile } from './download.ts'
import { type Input, inputReader } from './input.ts'
import type { Upload } from './multipart.ts'
import { hasKey, Repeatable, repeatable } from './repeat.ts'

/** Each verb's own types follow from its record; the server can't know them. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Verb = (ctx: any, input: any) => Promise<unknown>

export type Serve = (call: Call) => Promise<void>

interface Paging {
  page: number
  limit: number
}

/** What the unit of a request needs. `input` is a refusal where the request can't be understood. */
export interface Work {
  readonly call: Call
  readonly credential: Credential | null
  readonly input: Input | Refusal
}

/** Everything that can be known of a record before any request is worked out here, once. Never rejects. */
export function serve(record: Endpoint, verb: Verb, market: Market, authenticate: Authenticate): Serve {
  const { config } = market
  const readInput = inputReader(record)
  const hasCredential = record.auth !== 'signature'
  const unsafe = record.method !== 'GET'
  const hasBody = unsafe && (record.body !== undefined || record.auth === 'signature')
  const perform = performer(record, verb, market, authenticate)

  const understand = async ({ req }: Call, upload: Upload | null): Promise<Input | Refusal> => {
    try {
      return readInput(req, hasBody && !upload ? await readBody(req) : null, upload)
    } catch (error) {
      if (error instanceof Refusal) return error // told only to those who may call
      throw error
    }
  }

  const answer = async (call: Call, credential: Credential | null, upload: Upload | null) => {
    const input = await understand(call, upload)
    const result = await perform({ call, credential, input })
    if (result instanceof Download) await sendFile(call, result.file)
    else reply(record, call, input as Input, result)
    return result
  }

  /** So many bytes are taken from nobody who may not send them, and kept for nothing that was refused. */
  const answerUpload = async (call: Call, credential: Credential | null) => {
    if (credential) await market.db.read(q => admit(record, credential, authenticate, q))
    const { receiveUpload } = await import('./multipart.ts') // few servers ever need its parser and tables
    const upload = await receiveUpload(call.req, market)
    let taken = false
    try {
      const result = await answer(call, credential, upload)
      taken = !(result instanceof Repeatable) || result.hadEffect
    } finally {
      if (!taken) await dropFiles(market, upload.files)
    }
  }

  return async call => {
    try {
      const credential = hasCredential ? readCredential(call.req, config) : null
      if (unsafe && credential?.kind === 'session' && isCrossSite(call.req, config)) throw refuse('cross_site')
      checkCredential(record, credential)
      if (record.multipart && isMultipart(call.req)) await answerUpload(call, credential)
      else await answer(call, credential, null)
    } catch (error) {
      call.fail(error)
    }
  }
}

/** Runs the verb in the unit its record asks for, with the authentication in the same one. */
function performer(record: Endpoint, verb: Verb, market: Market, authenticate: Authenticate) {
  const { db, world, config, log } = market

  const identify = (q: Reader, { call, credential }: Work): Promise<Actor | null> =>
    admit(record, credential, authenticate, q, actor => {
      call.userId = actor.user.id
    })

  const ahead = aheadOf(record, db)

  const inside = async (tx: Reader, work: Work): Promise<unknown> => {
    if (ahead && work.credential && !(work.input instanceof Refusal)) ahead(tx, work.input.params.id!)
    const actor = work.credential ? await identify(tx, work) : null
    return verb({ tx, world, config, log, actor }, understood(work.input))
  }

  const inItsOwn = async (work: Work): Promise<unknown> => {
    const actor = work.credential ? await db.read(q => identify(q, work)) : null
    return verb({ ...market, actor }, understood(work.input))
  }

  if (isGlance(record, db)) return (work: Work) => db.glance(q => inside(q, work))
  if (record.unit === 'read') return (work: Work) => db.read(q => inside(q, work))
  const plain = record.unit === 'write' ? (work: Work) => db.write(tx => inside(tx, work)) : inItsOwn
  if (!takesIdempotencyKey(record)) return plain

  const answer = async (work: Work, actor: Actor | null, tx?: Tx): Promise<KeptAnswer> => {
    const input = understood(work.input)
    const ctx = tx ? { tx, world, config, log, actor } : { ...market, actor }
    return rendered(record, input, await verb(ctx, input))
  }
  const once = repeatable(record, market, { identify, answer })
  return (work: Work) => (hasKey(work) ? once(work) : plain(work))
}

function understood(input: Input | Refusal): Input {
  if (input instanceof Refusal) throw input
  return input
}

function reply(record: Endpoint, call: Call, input: Input, result: unknown) {
  if (result instanceof Repeatable) {
    if (result.repeated) call.headers = [...(call.headers ?? []), 'idempotent-replayed', 'true']
    return call.json(result.status, result.text)
  }
  if (record.sets !== 'session') {
    const { status, text } = rendered(record, input, result)
    return call.json(status, text)
  }
  const { session, data } = result as { session: string | null; data: unknown }
  const { status, text } = rendered(record, input, data)
  call.json(status, text, sessionCookie(call.house.market.config, session))
}

function rendered(record: Endpoint, input: Input, result: unknown): KeptAnswer {
  let data = result
  let status: number = record.status ?? 200
  if (data instanceof Created) {
    status = 201
    data = data.data
  }
  const text = record.list === undefined ? jsonOf(data) : pageOf(record.list, data, input.query as Paging)
  return { status, text: `{"success":true,"data":${text}}` }
}

const jsonOf = (data: unknown) => (data instanceof Json ? data.text : JSON.stringify(data === undefined ? null : data))

function pageOf(key: string, data: unknown, { page, limit }: Paging): string {
  const { items, total } = data as Page<unknown> | ReadyPage
  const totalPages = Math.ceil(total / limit)
  const pagination = { page, limit, total, totalPages, hasMore: page < totalPages }
  return `{"${key}":${jsonOf(items)},"pagination":${JSON.stringify(pagination)}}`
}
