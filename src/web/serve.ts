/** The steps from a request to its response: credential, body, input, unit, verb. */
import { acceptsIdempotencyKey, type Endpoint, type Page, type ReadyPage } from '../api/endpoint.ts'
import { Refusal, refuse } from '../api/failures.ts'
import { type Paging, pagesOf } from '../api/page.ts'
import { Created, Download, EventStream } from '../api/reply.ts'
import { Activity } from '../market/activity.ts'
import type { Actor, Market } from '../market/market.ts'
import { refuseWhenFull } from '../market/permission.ts'
import type { KeptResponse } from '../market/requests/idempotency.ts'
import { dropFiles, type FileRoom, fileRoom } from '../market/tasks/files.ts'
import { needsOnlyPrefetched, prefetcherOf } from '../market/tasks/prefetch.ts'
import { mayDeliver } from '../market/tasks/tasks.ts'
import type { Config } from '../settings/config.ts'
import { type Around, aroundUnits } from '../store/around.ts'
import type { Db, Reader, Tx } from '../store/db.ts'
import { isLarge, isMultipart, readBody } from './bodies/body.ts'
import { logRefusedByKey, recordCallback } from './callback-recording.ts'
import {
  type Authenticate,
  admit,
  type Credential,
  checkCredential,
  isCrossSite,
  isNear,
  isSameSite,
  readCredential,
  sessionCookie,
} from './credentials.ts'
import { sendFile } from './download.ts'
import { hasKey, mayBeRepeat, Repeatable, repeatable } from './idempotency.ts'
import { hasPlainParams, type Input, inputReader } from './input.ts'
import type { BeginFiles, Upload } from './multipart.ts'
import { SentPage, sendPage } from './page.ts'
import type { Call } from './response.ts'
import { MS_PER_BYTE } from './turns.ts'
import { callerOf, type Work } from './work.ts'

/** The types of each verb follow from its record. The server treats all verbs alike. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyVerb = (ctx: any, input: any) => Promise<unknown>

export type Serve = (call: Call) => Promise<void>

/** What a request is thought to take of the thread until one has been measured, in ms. */
const FIRST_COST_MS = 0.2
/** Of how many requests the usual cost is about the mean. */
const MEMORY = 16

/**
 * Returns the function that serves a record's requests, which never rejects. What depends on the record alone is computed
 * here once.
 */
export function serve(record: Endpoint, verb: AnyVerb, market: Market, authenticate: Authenticate): Serve {
  const { config } = market
  const readInput = inputReader(record)
  const hasCredential = record.auth !== 'signature'
  const unsafe = record.method !== 'GET'
  // What ends open work or pays for it goes before what only reads, and before what begins more.
  const isUrgent = unsafe && record.grows !== true
  const cost = new Cost()
  const identify = identifier(record, authenticate)
  const isCallback = unsafe && record.path.startsWith('/api/agent/')
  const activity = isCallback ? market.memory.of(Activity) : null
  const recording = isCallback ? market.recording : null
  const perform = performer(
    record,
    { verb: record.grows === true ? unlessFull(verb, market) : verb, identify, cost },
    market,
  )

  const identifyFirst = (call: Call, credential: Credential) =>
    market.db.read(q => identify(q, { call, credential }), call.flow)

  const respond = async (call: Call, credential: Credential | null, body: Buffer | Refusal | Upload) => {
    const input = memoized(() => inputOf(call, record, readInput(call, orThrow(body))))
    if (recording) recordCallback(call, recording, () => arrivedWith(body, input))
    const turn = call.server.turns.take({ flow: call.flow, isUrgent, ms: cost.usual }, call.res)
    if (turn) await turn
    const result = await perform({ call, credential, input })
    if (result instanceof Download) await sendFile(call, result.file)
    else if (result instanceof EventStream) call.server.streams.send(call, result)
    else if (result instanceof SentPage) await sendPage(call, result)
    else await reply(record, call, input, result)
    return result
  }

  const serveBody = async (call: Call, credential: Credential | null) => {
    if (credential && isLarge(call.req)) await identifyFirst(call, credential)
    const body = await readBody(call.req, call.res, call.reading).catch(refusalOnly)
    return respond(call, credential, body)
  }

  /** Reads the files only if the caller may send them, and removes them again if the request is refused. */
  const serveUpload = async (call: Call, credential: Credential | null, form: NonNullable<Endpoint['multipart']>) => {
    const room = await roomForUpload(record, market, identify, { call, credential })
    const { receiveUpload } = await import('./multipart.ts') // loaded late, because few simulators ever need the parser
    const begin: BeginFiles = giveUp => call.server.arrivingFiles.begin(room, () => call.address, giveUp)
    const own = { ...market, db: unitsOf(market.db, call) }
    const upload = await receiveUpload(call, form, own, begin)
    const bytes = upload.files.reduce((sum, { size }) => sum + size, 0)
    call.server.turns.charge(call.flow, bytes * MS_PER_BYTE)
    let kept = false
    try {
      const result = await respond(call, credential, upload)
      kept = !(result instanceof Repeatable) || result.hadEffect
    } finally {
      if (!kept) await dropFiles(own, upload.files)
    }
  }

  return async call => {
    const end = activity?.begin('callback', call.req.params.id ?? '')
    try {
      const credential = hasCredential ? readCredential(call.req, config) : null
      refuseForeign(record, { call, credential }, config)
      checkCredential(record, credential)
      call.server.turns.refuseIfFull(nameFlow(call, credential))
      if (!unsafe) call.refuseIfUnread()
      if (isMultipart(call.req) && record.multipart) await serveUpload(call, credential, record.multipart)
      else await serveBody(call, credential)
    } catch (error) {
      if (recording) logRefusedByKey(call, recording, error)
      call.fail(error)
    } finally {
      end?.()
    }
  }
}

/** Refuses what a page of somebody else may have sent. */
function refuseForeign(
  record: Endpoint,
  { call, credential }: Pick<Work, 'call' | 'credential'>,
  config: Config,
): void {
  if (record.method !== 'GET' && credential?.kind === 'session' && isCrossSite(call.req, config))
    throw refuse('cross_site')
  if (record.form && !isSameSite(call.req, config)) throw refuse('foreign_form')
  if (record.near && !isNear(call.req, config)) throw refuse('not_near')
}

/**
 * Checks what can be checked before the bytes of an upload come, and returns how many may come. A possible repeat passes, as
 * its stored response is found by them.
 */
const roomForUpload = (
  record: Endpoint,
  market: Market,
  identify: Identify,
  caller: Pick<Work, 'call' | 'credential'>,
): Promise<FileRoom> => {
  const { call } = caller
  return market.db.read(async q => {
    const actor = await identify(q, caller)
    if (!actor) throw refuse('not_authenticated')
    const room = await fileRoom(q, market, actor.user.id)
    if (!hasPlainParams(call.req)) return room
    if (await mayBeRepeat(q, record, call, actor.user.id)) return { ...room, used: 0 }
    await mayDeliver(q, actor, call.req.params.id!)
    return room
  }, call.flow)
}

type Identify = (q: Reader, caller: Pick<Work, 'call' | 'credential'>) => Promise<Actor | null>

const identifier =
  (record: Endpoint, authenticate: Authenticate): Identify =>
  (q, { call, credential }) =>
    admit(record, credential, authenticate, q, actor => {
      const { id } = actor.user
      call.userId = id
      call.flow = id
      if (credential) call.server.turns.know(credential, id)
    })

/** Names whose turns the request takes, as far as it is known before anybody looks the credential up. */
function nameFlow(call: Call, credential: Credential | null): string {
  const account = call.server.turns.accountOf(credential)
  if (account !== undefined) call.flow = account
  return call.flow
}

/** The database for units that are the request's wherever they are opened. */
const unitsOf = (db: Db, call: Call, around: Around = (_, work, run) => run(work)) =>
  aroundUnits(db, around, () => call.flow)

/** What a request of an endpoint has of the thread, in ms, measured where nothing else runs meanwhile. */
class Cost {
  /** Of late. */
  usual = FIRST_COST_MS

  /** Charges what the unit has had since it began, of which the estimate is charged already. */
  charge({ server, flow }: Call, began: number, estimate: number): void {
    const ms = performance.now() - began
    server.turns.charge(flow, ms - estimate)
    this.usual += (ms - this.usual) / MEMORY
  }
}

interface Parts {
  verb: AnyVerb
  identify: Identify
  cost: Cost
}

/** Runs the verb in the unit that its record names, together with the authentication. */
function performer(record: Endpoint, { verb, identify, cost }: Parts, market: Market) {
  const { db, world, config, log, webhooks, memory, recording, faults } = market
  const prefetch = prefetcherOf(record, db)

  /** A unit of a shared engine waits for the server most of its time, so there the estimate is all that is charged. */
  const measured = async <Result>(call: Call, estimate: number, run: () => Promise<Result>): Promise<Result> => {
    if (db.shared) return run()
    const began = performance.now()
    try {
      return await run()
    } finally {
      cost.charge(call, began, estimate)
    }
  }

  const inside = (tx: Reader, work: Work): Promise<unknown> => measured(work.call, cost.usual, () => served(tx, work))

  const served = async (tx: Reader, work: Work): Promise<unknown> => {
    const { req } = work.call
    const prefetched = prefetch && work.credential && hasPlainParams(req) ? prefetch(tx, req.params.id!) : null
    const actor = work.credential ? await identify(tx, work) : null
    const requestId = work.call.id
    return verb(
      { tx, db, world, config, log, webhooks, memory, recording, faults, prefetched, actor, requestId },
      work.input(),
    )
  }

  /** What a verb gets that opens its units itself: they have the turns and the connections of its request. */
  const ownContext = (call: Call, actor: Actor | null) => {
    const units = unitsOf(db, call, (_, work, run) => run(tx => measured(call, 0, () => work(tx))))
    return { ...market, db: units, actor, caller: callerOf(call), requestId: call.id }
  }

  const outsideUnit = async (work: Work): Promise<unknown> => {
    const actor = work.credential ? await db.read(q => identify(q, work), work.call.flow) : null
    return verb(ownContext(work.call, actor), work.input())
  }

  if (needsOnlyPrefetched(record, db)) return (work: Work) => db.readCommitted(q => inside(q, work))
  if (record.unit === 'read') return (work: Work) => db.read(q => inside(q, work), work.call.flow)
  const plain = record.unit === 'write' ? (work: Work) => db.write(tx => inside(tx, work), work.call.flow) : outsideUnit
  if (!acceptsIdempotencyKey(record)) return plain

  const respond = async (work: Work, actor: Actor | null, tx?: Tx): Promise<KeptResponse> => {
    const input = work.input()
    const requestId = work.call.id
    const inUnit = {
      tx,
      db,
      world,
      config,
      log,
      webhooks,
      memory,
      recording,
      faults,
      prefetched: null,
      actor,
      requestId,
    }
    const ctx = tx ? inUnit : ownContext(work.call, actor)
    return rendered(record, await verb(ctx, input))
  }
  const once = repeatable(record, market, { identify, respond })
  return (work: Work) => (hasKey(work) ? once(work) : plain(work))
}

/**
 * Refuses when the database is full. It wraps the verb, so a repeat of a request that passed still gets its stored
 * response.
 */
const unlessFull =
  (verb: AnyVerb, { db }: Market): AnyVerb =>
  async (ctx, input) => {
    refuseWhenFull(db)
    return verb(ctx, input)
  }

/** Returns a refusal of the body as a value, because it is reported only after the caller is known to be allowed. */
function refusalOnly(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

function orThrow<T>(given: T | Refusal): T {
  if (given instanceof Refusal) throw given
  return given
}

/** What came with a callback. Its input can't be read again if that failed before. */
function arrivedWith(body: Buffer | Refusal | Upload, input: () => Input) {
  const raw = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  try {
    return { body: raw, signed: input().signed }
  } catch {
    return { body: raw, signed: undefined }
  }
}

/** Calls `read` once. Returns, or throws, the same result each time. */
function memoized<T>(read: () => T): () => T {
  let kept: { value: T | Refusal } | undefined
  return () => {
    if (!kept) {
      try {
        kept = { value: read() }
      } catch (error) {
        kept = { value: refusalOnly(error) }
      }
    }
    return orThrow(kept.value)
  }
}

async function reply(record: Endpoint, call: Call, input: () => Input, result: unknown): Promise<void> {
  if (result instanceof Repeatable) {
    if (result.repeated) call.headers = [...(call.headers ?? []), 'idempotent-replayed', 'true']
    return call.json(result.status, result.text)
  }
  if (call.req.method === 'HEAD') return call.head(record.status ?? 200)
  if (record.method === 'GET')
    return call.answer(record.status ?? 200, record.list === undefined ? result : listed(record.list, result, input()))
  if (record.sets !== 'session') {
    const { status, text } = rendered(record, result)
    return call.json(status, text)
  }
  const { session, data } = result as { session: string | null; data: unknown }
  const { status, text } = rendered(record, data)
  call.json(status, text, sessionCookie(call.server.market.config, session))
}

/** The response to HEAD needs no page, but what is wrong with the request, if anything. */
function inputOf({ req }: Call, { list }: Endpoint, input: Input): Input {
  if (list === undefined || req.method !== 'HEAD') return input
  return { ...input, query: { ...(input.query as object), limit: 1 } }
}

function rendered(record: Endpoint, result: unknown): KeptResponse {
  let data = result
  let status: number = record.status ?? 200
  if (data instanceof Created) {
    status = 201
    data = data.data
  }
  return { status, text: JSON.stringify({ success: true, data: data === undefined ? null : data }) }
}

function listed(key: string, data: unknown, { query }: Input): object {
  const { items, total } = data as Page<unknown> | ReadyPage
  const { page, limit } = query as Paging
  const totalPages = pagesOf(total, limit)
  return { [key]: items, pagination: { page, limit, total, totalPages, hasMore: page < totalPages } }
}
