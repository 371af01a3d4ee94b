/** A request that is sent again under its Idempotency-Key has no second effect and gets the first answer. Source: A-39. */
import { refuse } from '../../api/failures.ts'
import { durations, limits } from '../../api/limits.ts'
import type { Config } from '../../config.ts'
import type { Reader, Tx } from '../../store/db.ts'
import {
  answerRequest,
  claimRequest,
  countKept,
  type RequestKey,
  releaseRequest,
  removeKept,
  requestByKey,
} from '../../store/tables/idempotency-keys.ts'
import type { World } from '../../world/world.ts'

export interface KeyedRequest extends RequestKey {
  /** Equal for equal requests. */
  readonly fingerprint: string
  /** Its answer holds a secret, which is shown once. */
  readonly secret: boolean
}

/** An answer as it is kept: the status and the whole body. */
export interface KeptAnswer {
  readonly status: number
  readonly text: string
}

/**
 * null: the key is free, and is this request's from now on. Otherwise the answer that the first one got. Refuses another
 * request under the same key, one whose first still runs, and a repeat that asks for a secret.
 */
export async function claim(tx: Tx, world: World, request: KeyedRequest): Promise<KeptAnswer | null> {
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

/** Whether its first request was here, whatever it said. */
export const isClaimed = async (q: Reader, key: RequestKey) => (await requestByKey(q, key)) !== undefined

/** What a row takes beside its answer. */
const ROW_BYTES = 1024

/**
 * Keeps the answer of a request that has claimed its key. An account has so many, each of a usual size; of larger ones
 * fewer. Beyond that the oldest go. It is the last thing of its unit, as those of one account wait for each other here.
 */
export async function keep(
  tx: Tx,
  { keeping }: Pick<Config, 'keeping'>,
  request: KeyedRequest,
  { status, text }: KeptAnswer,
): Promise<void> {
  const answer = request.secret && status < 300 ? null : text
  const bytes = ROW_BYTES + Buffer.byteLength(answer ?? '')
  const keptTo = await countKept(tx, request.userId, Math.max(bytes, limits.idempotency.usualBytes))
  const most = keeping.idempotencyKeys * limits.idempotency.usualBytes
  await Promise.all([
    answerRequest(tx, request, { status, answer, keptTo }),
    removeKept(tx, request.userId, keptTo - most),
  ])
}

/** Frees the key of a request whose answer is not kept. */
export async function release(tx: Tx, request: KeyedRequest): Promise<void> {
  await releaseRequest(tx, request)
}

/** What may be answered otherwise the next time is not kept. */
export const isKept = (status: number) => status < 500 && status !== 401 && status !== 403 && status !== 429
