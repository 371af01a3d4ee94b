/** A request that is sent again with its Idempotency-Key has no second effect and gets the first response. Source: A-39. */
import { refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import type { Config } from '../../settings/config.ts'
import type { Db, Reader, Tx } from '../../store/db.ts'
import {
  claimRequest,
  countKept,
  keepResponse,
  type RequestKey,
  releaseRequest,
  removeKept,
  requestByKey,
} from '../../store/tables/requests/idempotency-keys.ts'
import type { World } from '../../world/world.ts'
import { keptWithin } from '../room.ts'

export interface KeyedRequest extends RequestKey {
  /** Equal for equal requests. */
  readonly fingerprint: string
  /** Its response contains a secret, which is shown once. */
  readonly secret: boolean
}

/** A stored response: its status and its whole body. */
export interface KeptResponse {
  readonly status: number
  readonly text: string
}

/**
 * Claims the key for this request and returns null. If an equal request had the key before, returns its response. Refuses
 * if the key was used for a different request, if the first request still runs, or if its response contained a secret.
 */
export async function claim(tx: Tx, world: World, request: KeyedRequest): Promise<KeptResponse | null> {
  const now = world.now()
  const realNow = world.realNow()
  const claimed = await claimRequest(tx, request, {
    fingerprint: request.fingerprint,
    now,
    keptSince: now - durations.idempotency.keptMs,
    realNow,
    runningUntil: realNow + durations.idempotency.runningMs,
  })
  if (claimed > 0) return null
  const earlier = (await requestByKey(tx, request))!
  if (earlier.fingerprint !== request.fingerprint) throw refuse('idempotency_reused')
  if (earlier.status === null) throw refuse('idempotency_running')
  if (earlier.answer === null) throw refuse('secret_shown_once')
  return { status: earlier.status, text: earlier.answer }
}

/** Whether any request has used this key. */
export const isClaimed = async (q: Reader, key: RequestKey) => (await requestByKey(q, key)) !== undefined

/** What a row takes besides its response. */
const ROW_BYTES = 1024

/**
 * Stores the response of a request that has claimed its key. An account may keep a number of responses of usual size, or
 * fewer larger ones; beyond that the oldest are deleted. It may keep fewer as the database fills. Call it last in a transaction, because requests of one
 * account wait for each other here.
 */
export async function keep(
  tx: Tx,
  { config, db }: { config: Pick<Config, 'keeping'>; db: Pick<Db, 'fill'> },
  request: KeyedRequest,
  { status, text }: KeptResponse,
): Promise<void> {
  const answer = request.secret && status < 300 ? null : text
  const bytes = ROW_BYTES + Buffer.byteLength(answer ?? '')
  const keptTo = await countKept(tx, request.userId, Math.max(bytes, limits.idempotency.usualBytes))
  const most = keptWithin(config.keeping.idempotencyKeys * limits.idempotency.usualBytes, db.fill)
  await Promise.all([
    keepResponse(tx, request, { status, answer, keptTo }),
    removeKept(tx, request.userId, keptTo - most),
  ])
}

/** Frees the key of a request whose response is not stored. */
export async function release(tx: Tx, request: KeyedRequest): Promise<void> {
  await releaseRequest(tx, request)
}

/**
 * Whether a response with this status is stored. Those that may differ the next time are not. A full database stores no
 * refusal: it had no effect, so a repeat may run, and each row would take a kilobyte.
 */
export const isKept = (status: number, db: Pick<Db, 'isFull'>) =>
  status < 400 || (status < 500 && status !== 401 && status !== 403 && status !== 429 && !db.isFull)
