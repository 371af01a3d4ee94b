/** Serves POSTs with an Idempotency-Key: the verb runs once, and a repeat gets the stored response. Source: A-39. */
import { createHash } from 'node:crypto'
import type { Endpoint } from '../api/endpoint.ts'
import { Refusal, refuse } from '../api/failures.ts'
import type { KeptFile } from '../api/file-kinds.ts'
import type { Actor, Market } from '../market/market.ts'
import {
  claim,
  isClaimed,
  isKept,
  type KeptResponse,
  type KeyedRequest,
  keep,
  release,
} from '../market/requests/idempotency.ts'
import type { Db, Reader, Tx } from '../store/db.ts'
import { onlyHeader } from './credentials.ts'
import { type Call, failureText } from './response.ts'
import type { Work } from './work.ts'

const HEADER = 'idempotency-key'
const KEY = /^[\x20-\x7e]{1,255}$/

export const hasKey = ({ call }: Pick<Work, 'call'>) => call.req.headers[HEADER] !== undefined

/** Whether an earlier request had the same key, so that this one may be a repeat. Asked before its body is read. */
export async function mayBeRepeat(q: Reader, { method }: Endpoint, { req }: Call, userId: string): Promise<boolean> {
  const key = onlyHeader(req, HEADER)
  return key !== undefined && isClaimed(q, { userId, method, path: req.path, key })
}

/** The response to a request with a key. */
export class Repeatable implements KeptResponse {
  readonly status: number
  readonly text: string
  /** True if it was stored by an earlier request, so that the verb did not run. */
  readonly repeated: boolean

  constructor({ status, text }: KeptResponse, repeated: boolean) {
    this.status = status
    this.text = text
    this.repeated = repeated
  }

  /** Whether the verb ran for this request and changed something. */
  get hadEffect() {
    return !this.repeated && this.status < 300
  }
}

/** How a request is served if its key is free. */
export interface Steps {
  identify(q: Reader, work: Work): Promise<Actor | null>
  /** Runs the verb. `tx` is there if the record's unit is `write`. */
  respond(work: Work, actor: Actor | null, tx?: Tx): Promise<KeptResponse>
}

/**
 * Returns what serves requests with a key. For a `write` record the key, the verb and the response are one transaction. For
 * others the key is claimed in a transaction before the verb, and the response is stored in one after it.
 */
export function repeatable(record: Endpoint, market: Market, { identify, respond }: Steps) {
  const { db, world } = market
  const once = async (tx: Tx, request: KeyedRequest, given: KeptResponse): Promise<Repeatable> => {
    const earlier = await claim(tx, world, request)
    if (earlier) return new Repeatable(earlier, true)
    await keep(tx, market, request, given)
    return new Repeatable(given, false)
  }

  const asTransaction = async (work: Work): Promise<Repeatable> => {
    let ours: KeyedRequest | null = null
    try {
      return await db.write(async tx => {
        const actor = await identify(tx, work)
        const request = requestOf(record, work, actor)
        const earlier = await claim(tx, world, request)
        if (earlier) return new Repeatable(earlier, true)
        ours = request
        const given = await respond(work, actor, tx)
        await keep(tx, market, request, given)
        return new Repeatable(given, false)
      }, work.call.flow)
    } catch (error) {
      const request = ours as KeyedRequest | null
      const refusal = keptRefusal(error, db)
      if (!request || !refusal) throw error
      return db.write(tx => once(tx, request, refusal), work.call.flow) // the transaction was rolled back, and with it the claim of the key
    }
  }

  const inSteps = async (work: Work): Promise<Repeatable> => {
    const { actor, request, earlier } = await db.write(async tx => {
      const actor = await identify(tx, work)
      const request = requestOf(record, work, actor)
      return { actor, request, earlier: await claim(tx, world, request) }
    }, work.call.flow)
    const { flow } = work.call
    if (earlier) return new Repeatable(earlier, true)
    try {
      const given = await respond(work, actor)
      await db.write(tx => keep(tx, market, request, given), flow)
      return new Repeatable(given, false)
    } catch (error) {
      const refusal = keptRefusal(error, db)
      if (!refusal) {
        await db.write(tx => release(tx, request), flow)
        throw error
      }
      await db.write(tx => keep(tx, market, request, refusal), flow)
      return new Repeatable(refusal, false)
    }
  }

  return record.unit === 'write' ? asTransaction : inSteps
}

function requestOf({ method, showsSecret }: Endpoint, work: Work, actor: Actor | null): KeyedRequest {
  const { req } = work.call
  const key = onlyHeader(req, HEADER)
  if (key === undefined || !KEY.test(key)) {
    throw refuse('bad_request', 'Idempotency-Key takes 1 to 255 printable ASCII characters, once')
  }
  if (!actor) throw refuse('not_authenticated')
  return {
    userId: actor.user.id,
    method,
    path: req.path,
    key,
    fingerprint: fingerprintOf(work),
    secret: showsSecret === true,
  }
}

const fileFacts = ({ name, mimeType, size }: KeptFile) => ({ name, mimeType, size })

/** Hashes the parsed input, so that the encoding of a body does not matter. The ids of files are left out. */
function fingerprintOf(work: Work): string {
  return createHash('sha256').update(contentOf(work)).digest('hex')
}

function contentOf(work: Work): string {
  try {
    const { query, body, files } = work.input()
    return JSON.stringify([query, body, files?.map(fileFacts)])
  } catch (error) {
    if (error instanceof Refusal) return failureText(error)
    throw error
  }
}

/**
 * Returns the response to store for a refusal; null if it must not be stored. A body that is too large was not read, so it
 * has no fingerprint. After a lost race the client should try again, and must not get the same refusal for a day.
 */
function keptRefusal(error: unknown, db: Db): KeptResponse | null {
  if (!(error instanceof Refusal) || !isKept(error.status, db)) return null
  if (error.code === 'body_too_large' || error.code === 'lost_race') return null
  return { status: error.status, text: failureText(error) }
}
