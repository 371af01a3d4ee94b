/** The heartbeat: every four hours, some agents are tested, the least recently tested first. Source: section 6, D43. */
import { Refusal } from '../api/failures.ts'
import { heartbeat } from '../api/limits.ts'
import type { TestReport } from '../api/records.ts'
import {
  type AgentRow,
  agentById,
  countTestable,
  isTestable,
  leastRecentlyTested,
  updateTested,
} from '../store/agents.ts'
import type { Tx } from '../store/db.ts'
import { claimJob, endJob, ensureJob, isJobDue } from '../store/jobs.ts'
import { runChecks } from './check.ts'
import type { Market } from './market.ts'
import { type News, notify } from './notifications.ts'
import { singly } from './singly.ts'

const JOB = 'heartbeat'
const { everyHours, everyMs, atOnce } = heartbeat

export interface Heartbeat {
  /** Does every run that is due by now. */
  run(): Promise<void>
  /** Cuts off what is being tested, which stays as it was. */
  stop(): Promise<void>
}

/** Plans the first run of a new marketplace. Runs are due at every fourth full hour, UTC, of domain time. */
export const planHeartbeat = ({ db, world }: Market) =>
  db.write(tx => ensureJob(tx, JOB, lastBoundary(world.now()) + everyMs))

/** Ticks from now on. The row says what is due, so a tick too many, too late or too few does no harm. */
export function startHeartbeat(market: Market): Heartbeat {
  const { world, log } = market
  const stopping = new AbortController()
  const runs = singly(async () => {
    while (!stopping.signal.aborted && (await runOnce(market, stopping.signal))) {}
  })
  const tick = () =>
    void runs.run().catch(error => log({ type: 'error', message: `The heartbeat could not be run: ${error.message}` }))
  const hours = world.everyHours(everyHours, tick)
  const look = () => {
    tick()
    later = world.after(heartbeat.lookMs, look)
  }
  let later = world.after(heartbeat.afterStartMs, look)
  return {
    run: runs.run,
    async stop() {
      hours.cancel()
      later.cancel()
      stopping.abort(new Error('The marketplace is closing.'))
      await runs.stop()
    },
  }
}

const lastBoundary = (now: number) => now - (now % everyMs)

/** One run, if one is due: false if none was, or it was cut off. */
async function runOnce(market: Market, signal: AbortSignal): Promise<boolean> {
  const { db, world, config } = market
  const { heartbeatBatch: batch } = config
  const times = () => ({ now: world.now(), realNow: world.realNow() })
  const { now, realNow } = times()
  if (!(await db.read(q => isJobDue(q, JOB, now, realNow)))) return false
  const leasedUntil = realNow + Math.ceil(batch / atOnce) * heartbeat.leaseMs
  const claimed = await db.write(async tx => {
    const dueAt = await claimJob(tx, { name: JOB, ...times(), leasedUntil })
    if (dueAt === undefined) return null
    // After a long pause several runs are due at once: none of them need test what another just has.
    const ids = await leastRecentlyTested(tx, lastBoundary(now), batch)
    return { dueAt, ids, testable: await countTestable(tx) }
  })
  if (!claimed) return false
  warnIfTooFew(market, claimed.testable)
  await testAll(market, claimed.ids, signal)
  const done = !signal.aborted
  const following = claimed.ids.length < batch ? lastBoundary(now) : claimed.dueAt
  await db.write(tx => endJob(tx, JOB, leasedUntil, done ? following + everyMs : claimed.dueAt))
  return done
}

function warnIfTooFew({ log, config: { heartbeatBatch: batch } }: Market, testable: number) {
  const reach = batch * heartbeat.runsPerDay
  if (testable <= reach) return
  const needed = Math.ceil(testable / heartbeat.runsPerDay)
  log({
    type: 'warning',
    message: `A day of heartbeats reaches ${reach} of ${testable} agents; the others hide after 24 hours. Set MARKETPLACE_HEARTBEAT_BATCH to ${needed} or more.`,
  })
}

async function testAll(market: Market, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const queue = [...ids]
  const worker = async () => {
    for (let id = queue.shift(); id !== undefined && !signal.aborted; id = queue.shift()) {
      // A run takes minutes: it may be deactivated or deleted by now.
      const agent = await market.db.read(q => agentById(q, id as string))
      if (agent && isTestable(agent)) await testOne(market, agent, signal)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** One bad row must not keep the others from their test, nor stay first in the queue for ever. */
async function testOne(market: Market, agent: AgentRow, signal: AbortSignal): Promise<void> {
  const { db, world, log } = market
  const alongside = (tx: Tx, report: TestReport, current: boolean) =>
    tellBuilder({ ...market, tx }, agent.id, report, current)
  try {
    await runChecks(market, agent, { heartbeat: true, signal, alongside })
  } catch (error) {
    // Its builder tests it at this moment.
    if (signal.aborted || (error instanceof Refusal && error.code === 'test_running')) return
    log({ type: 'error', message: `The heartbeat of ${agent.id} could not be run: ${(error as Error).message}` })
    await db.write(tx => updateTested(tx, agent, { testedAt: world.now() }))
  }
}

async function tellBuilder(
  ctx: Parameters<typeof notify>[0],
  id: string,
  report: TestReport,
  current: boolean,
): Promise<void> {
  if (report.passed || !current) return
  const agent = await agentById(ctx.tx, id)
  if (agent && isTestable(agent)) await notify(ctx, agent.builderId, failedNews(agent, report))
}

function failedNews({ id, name }: AgentRow, { checks }: TestReport): News<'webhook_health_failed'> {
  const why = checks.find(({ status }) => status === 'failed')?.message
  const message = `The heartbeat of “${name}” failed, so it is hidden until a test passes. ${why}`
  return { type: 'webhook_health_failed', agentId: id, message, data: { checks } }
}
