/** The heartbeat tests some agents every four hours, the least recently tested first. Source: I-heartbeat, A-43. */
import { Refusal } from '../../api/failures.ts'
import { durations, heartbeat } from '../../api/limits.ts'
import type { TestReport } from '../../api/records.ts'
import { inHours } from '../../api/spans.ts'
import { isTold, StoreError, type Tx } from '../../store/db.ts'
import {
  type AgentRow,
  agentById,
  countTestable,
  isTestable,
  leastRecentlyTested,
  updateTested,
} from '../../store/tables/agents/agents.ts'
import { claimJob, endJob, ensureJob, isJobDue } from '../../store/tables/upkeep/jobs.ts'
import { type News, notify } from '../accounts/notifications.ts'
import { Activity } from '../activity.ts'
import type { Market } from '../market.ts'
import { singleFlight } from '../single-flight.ts'
import { runChecks } from './connection-test.ts'

const JOB = 'heartbeat'
const { everyHours, everyMs, atOnce } = heartbeat

export interface Heartbeat {
  /** Does every run that is due now. */
  run(): Promise<void>
  /** Resolves when no run is under way. Never rejects. */
  settled(): Promise<void>
  /** Aborts the tests under way. Their agents stay as they were. */
  stop(): Promise<void>
}

/** Plans the first run of a new marketplace. Runs are due at every fourth full hour of domain time, UTC. */
export const planHeartbeat = ({ db, world }: Market) =>
  db.write(tx => ensureJob(tx, JOB, lastBoundary(world.now()) + everyMs))

/** Starts the timers. A row says what is due, so a tick that is missed, late or superfluous does no harm. */
export function startHeartbeat(market: Market): Heartbeat {
  const { world, log } = market
  const stopping = new AbortController()
  const runs = singleFlight(async () => {
    while (!stopping.signal.aborted && (await runOnce(market, stopping.signal))) {}
  })
  const tick = () =>
    void runs
      .run()
      .catch(
        error => isTold(error) || log({ type: 'error', message: `The heartbeat could not be run: ${error.message}` }),
      )
  const hours = world.everyHours(everyHours, tick)
  const look = () => {
    tick()
    later = world.after(heartbeat.lookMs, look)
  }
  let later = world.after(heartbeat.afterStartMs, look)
  return {
    run: runs.run,
    settled: runs.settled,
    async stop() {
      hours.cancel()
      later.cancel()
      stopping.abort(new Error('The marketplace is closing.'))
      await runs.stop()
    },
  }
}

const lastBoundary = (now: number) => now - (now % everyMs)

/** Does one run if one is due. Returns false if none was, or if it was aborted. */
async function runOnce(market: Market, signal: AbortSignal): Promise<boolean> {
  const { db, world, config } = market
  const { heartbeatBatch: batch } = config
  const leaseMs = Math.ceil(batch / atOnce) * heartbeat.leaseMs
  const times = () => ({ now: world.now(), realNow: world.realNow() })
  const { now, realNow } = times()
  if (!(await db.read(q => isJobDue(q, JOB, now, realNow)))) return false
  const leasedUntil = realNow + leaseMs
  const claimed = await db.write(async tx => {
    const job = await claimJob(tx, { name: JOB, ...times(), leasedUntil })
    if (job === undefined) return null
    // After a long pause several runs are due. None of them repeats a test that another has just done.
    const ids = await leastRecentlyTested(tx, lastBoundary(now), batch)
    return { ...job, ids, testable: await countTestable(tx) }
  })
  if (!claimed) return false
  warnIfTooFew(market, claimed.testable)
  const isLastTry = claimed.retries >= heartbeat.retryMs.length
  const untested = await testAll(market, claimed.ids, signal, isLastTry)
  const done = !signal.aborted
  const following = claimed.ids.length < batch ? lastBoundary(now) : lastBoundary(claimed.dueAt)
  const next = done
    ? nextRun(market, following + everyMs, untested, claimed.retries)
    : { at: claimed.dueAt, retries: 0 }
  await db.write(tx => endJob(tx, JOB, leasedUntil, next.at, next.retries))
  return done
}

/** Returns when the next run is due: at the boundary, or sooner if a fault of our own kept some agents from being tested. */
function nextRun({ world, log }: Market, boundary: number, untested: number, retries: number) {
  const waitMs = heartbeat.retryMs[retries]
  if (untested === 0 || waitMs === undefined || world.now() + waitMs >= boundary) return { at: boundary, retries: 0 }
  const message = `${untested} agents could not be tested for a reason of our own; the heartbeat tries again in ${waitMs / 60_000} minutes.`
  log({ type: 'warning', message })
  return { at: world.now() + waitMs, retries: retries + 1 }
}

function warnIfTooFew({ log, config: { heartbeatBatch: batch } }: Market, testable: number) {
  const reach = batch * heartbeat.runsPerDay
  if (testable <= reach) return
  const needed = Math.ceil(testable / heartbeat.runsPerDay)
  log({
    type: 'warning',
    message: `A day of heartbeats reaches ${reach} of ${testable} agents; the others hide after ${inHours(durations.freshMs)}. Set MARKETPLACE_HEARTBEAT_BATCH to ${needed} or more.`,
  })
}

/** Returns how many agents could not be tested because of a fault of our own. */
async function testAll(
  market: Market,
  ids: readonly string[],
  signal: AbortSignal,
  isLastTry: boolean,
): Promise<number> {
  const queue = [...ids]
  let untested = 0
  const worker = async () => {
    for (let id = queue.shift(); id !== undefined && !signal.aborted; id = queue.shift()) {
      // A run takes minutes, so the agent may be deactivated or deleted by now.
      const agent = await market.db.read(q => agentById(q, id as string))
      if (agent && isTestable(agent) && !(await testOne(market, agent, signal, isLastTry))) untested++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return untested
}

/**
 * Tests one agent. Returns false if a fault of our own prevented the test. An agent whose test throws must neither stop the
 * run nor stay first in the queue for ever, so it is moved to the end.
 */
async function testOne(market: Market, agent: AgentRow, signal: AbortSignal, isLastTry: boolean): Promise<boolean> {
  const { db, world, log, memory, background } = market
  const end = memory.of(Activity).begin('heartbeat', agent.id)
  const alongside = (tx: Tx, report: TestReport, current: boolean) =>
    notifyBuilder({ ...market, tx }, agent.id, report, current)
  const moveToEnd = () => db.write(tx => updateTested(tx, agent, { testedAt: world.now() }))
  try {
    const callbackMs = background.isHurried ? heartbeat.hurriedCallbackMs : durations.testCallbackMs
    const { ownFault } = await runChecks(market, agent, { heartbeat: true, callbackMs, signal, alongside })
    if (ownFault === null) return true
    log({ type: 'warning', message: `The heartbeat of ${agent.id} counts as not made: ${ownFault}` })
    if (isLastTry) await moveToEnd()
    return false
  } catch (error) {
    // `test_running`: its builder tests the agent at this moment.
    if (signal.aborted || (error instanceof Refusal && error.code === 'test_running')) return true
    log({ type: 'error', message: `The heartbeat of ${agent.id} could not be run: ${(error as Error).message}` })
    if (error instanceof StoreError && !isLastTry) return false
    await moveToEnd()
    return true
  } finally {
    end()
  }
}

async function notifyBuilder(
  ctx: Parameters<typeof notify>[0],
  id: string,
  report: TestReport,
  current: boolean,
): Promise<void> {
  // Nobody is to hear of a sample that is down on purpose.
  if (report.passed || !current || report.diagnosis?.isMeant) return
  const agent = await agentById(ctx.tx, id)
  if (agent && isTestable(agent)) await notify(ctx, agent.builderId, failedNews(agent, report))
}

function failedNews({ id, name }: AgentRow, { checks }: TestReport): News<'webhook_health_failed'> {
  const why = checks.find(({ status }) => status === 'failed')?.message
  const message = `The heartbeat of “${name}” failed, so it is hidden until a test passes. ${why}`
  return { type: 'webhook_health_failed', agentId: id, message, data: { checks } }
}
