/** Sends what waits in the outbox: signed afresh each time, logged, retried. Source: D37. */
import { answerBytes, dispatch, durations, retryAfterMaxMs, retryJitter, retryScheduleMs } from '../api/limits.ts'
import { signatureHeaders, standardHeaders } from '../api/signature.ts'
import {
  agentsWithDeliveries,
  claimDeliveries,
  type DeliveryRow,
  endDelivery,
  insertAttempt,
  promoteNext,
  releaseLeases,
  retryAt,
} from '../store/outbox.ts'
import type { OutgoingResult } from '../world/world.ts'
import type { Market } from './market.ts'
import { onEvent } from './outbox.ts'
import { unseal } from './secrets.ts'
import { iso } from './time.ts'

type Job = DeliveryRow & { url: string; secret: string }

export function startDispatcher(market: Market): { close(): Promise<void>; wake(): void } {
  const { db, world, config, log } = market
  const inFlight = new Map<string, number>()
  const sending = new Set<Promise<void>>()
  let closed = false
  let running: Promise<void> | null = null
  let again = false

  const claim = () =>
    db.write(async tx => {
      const jobs: Job[] = []
      for (const agent of await agentsWithDeliveries(tx)) {
        const free = dispatch.perHost - (inFlight.get(agent.agentId) ?? 0)
        if (free <= 0 || sending.size + jobs.length >= dispatch.overall) continue
        const realNow = world.realNow()
        const leasedUntil = realNow + dispatch.leaseMs
        const rows = await claimDeliveries(tx, {
          agentId: agent.agentId,
          now: world.now(),
          realNow,
          leasedUntil,
          count: free,
        })
        const secret = agent.secret ? unseal(config, agent.agentId, agent.secret) : ''
        for (const row of rows) jobs.push({ ...row, url: agent.webhookUrl ?? '', secret })
      }
      return jobs
    })

  const send = async (job: Job) => {
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders(job.secret, world.realNow(), job.body),
      ...standardHeaders(job.secret, job.id, world.realNow(), job.body),
      'X-Service-Delivery-Id': job.id,
      'X-Service-Attempt': String(job.attempts),
    }
    const result = await world.egress.post({
      url: job.url,
      body: job.body,
      headers,
      timeoutMs: durations.webhookTimeoutMs,
      maxAnswerBytes: answerBytes,
    })
    await note(job, result)
  }

  const note = async (job: Job, result: OutgoingResult) => {
    const now = world.now()
    const status = result.ok ? result.status : null
    const done = status !== null && status >= 200 && status < 300
    const wait = waitOf(result, retryScheduleMs[job.attempts - 1], world.chance())
    const over = done || status === 410 || wait === null
    await db.write(async tx => {
      await insertAttempt(tx, {
        deliveryId: job.id,
        attempt: job.attempts,
        url: job.url,
        status,
        reason: result.ok ? null : result.reason,
        message: result.ok ? `The agent answered ${result.status}` : result.message,
        answer: result.ok ? result.body.replaceAll('\0', '') : null,
        durationMs: Math.round(result.durationMs),
        createdAt: now,
      })
      if (!over) return void (await retryAt(tx, job.id, now + (wait ?? 0)))
      await endDelivery(tx, job.id, done ? 'delivered' : 'failed', now)
      await promoteNext(tx, job.taskId, now)
    })
    log({
      type: 'webhook',
      event: job.event,
      taskId: job.taskId,
      agentId: job.agentId,
      deliveryId: job.id,
      attempt: job.attempts,
      outcome: done ? 'delivered' : over ? 'failed' : 'retry',
      status,
      reason: result.ok ? null : result.reason,
      ms: Math.round(result.durationMs),
      nextAttemptAt: over ? null : iso(now + (wait ?? 0)),
    })
  }

  const start = (job: Job) => {
    inFlight.set(job.agentId, (inFlight.get(job.agentId) ?? 0) + 1)
    const sent = send(job)
      .catch(error => log({ type: 'error', message: `webhook ${job.id}: ${error.message}` }))
      .finally(() => {
        inFlight.set(job.agentId, (inFlight.get(job.agentId) ?? 1) - 1)
        sending.delete(sent)
        wake()
      })
    sending.add(sent)
  }

  const wake = () => {
    if (closed) return
    again = true
    running ??= (async () => {
      while (again && !closed) {
        again = false
        for (const job of await claim()) start(job)
      }
    })()
      .catch(error => log({ type: 'error', message: `dispatcher: ${error.message}` }))
      .finally(() => {
        running = null
      })
  }

  const tick = () => {
    wake()
    if (!closed) world.after(1000, tick)
  }
  onEvent(world, wake)
  void db.write(tx => releaseLeases(tx)).then(tick, () => undefined)

  const close = async () => {
    closed = true
    await running
    await Promise.all(sending)
  }
  return { close, wake }
}

/** How long until the next attempt, in ms; null when there is none. */
function waitOf(result: OutgoingResult, scheduled: number | undefined, chance: number): number | null {
  if (scheduled === undefined) return null
  const asked = result.ok ? Number(result.headers['retry-after']) * 1000 : Number.NaN
  if (asked > 0) return Math.min(asked, retryAfterMaxMs)
  return Math.round(scheduled * (1 + retryJitter * (2 * chance - 1)))
}
