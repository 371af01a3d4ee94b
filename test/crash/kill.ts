/** Rounds of load, kill -9, and everything that must hold afterwards: the body of kill.test.ts and of the long run. */
import { setTimeout as wait } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createFrontAuthority } from '../../src/sim/agents/https-front.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { assertTold, startAgent } from './agent.ts'
import { Caller, Callers } from './caller.ts'
import { type Deployment, type Running, withDeployment } from './deployment.ts'
import { isReachable, type Step } from './history.ts'
import { born, type Load, startLoad } from './load.ts'
import { PASSWORD, type Scenario, settle } from './scenario.ts'
import { readFileAfterCrash, type StoredState } from './stored-state.ts'

export interface Passed {
  answers: number
  /** Requests whose answer was taken away. */
  cuts: number
  tasks: number
  webhooks: number
  /** Webhooks that came more than once. */
  repeated: number
  /** Callbacks that were sent once more. */
  resent: number
}

export interface KillReport extends Passed {
  rounds: number
  /** Kills while it was starting. */
  killedAtStart: number
  /** Journals that ended in half a write. */
  torn: number
  slowestStartMs: number
}

/** Kills the server `rounds` times under load. Throws at the first thing that must not be. */
export async function killRounds(folder: string, rounds: number, seed: number): Promise<KillReport> {
  const authority = createFrontAuthority()
  const agent = await startAgent(authority)
  const callers = new Callers()
  const report = {
    rounds,
    answers: 0,
    cuts: 0,
    tasks: 0,
    webhooks: 0,
    repeated: 0,
    resent: 0,
    killedAtStart: 0,
    torn: 0,
  }
  let slowestStartMs = 0
  let load: Load | null = null
  const proof = async (deployment: Deployment): Promise<KillReport> => {
    let running = await deployment.start('dev')
    const caller = () => callers.add(running.url)
    const scenario = await settle(agent, seed, 6, running.ready, caller)
    for (let round = 1; round <= rounds; round++) {
      load = startLoad(scenario, caller)
      await enough(scenario, load)
      await running.kill('SIGKILL')
      load.stopped = true
      await load.ended
      if (load.fault) throw load.fault
      callers.close()

      const stored = await readFileAfterCrash(deployment.file)
      if (stored.tornBytes) report.torn++
      const unanswered = assertNothingLost(scenario, stored)
      await deployment.check()
      if (scenario.random() < 0.3) {
        await deployment.startInVain(scenario.random() * 1000)
        report.killedAtStart++
        assert.equal(
          (await readFileAfterCrash(deployment.file)).tasks,
          stored.tasks,
          'a kill at the start changes nothing',
        )
      }
      running = await deployment.start('dev')
      slowestStartMs = Math.max(slowestStartMs, running.readyMs)
      await assertShown(scenario, caller(), stored, running)
      await assertDelivered(scenario, stored, running)
      report.resent += await sendAgain(scenario, caller(), unanswered, stored)
    }
    await running.kill('SIGTERM')
    const last = await readFileAfterCrash(deployment.file)
    const seen = assertTold(agent.webhooks, last.deliveries)
    assert.equal(
      [...seen].sort(),
      last.deliveries.map(({ id }) => id),
      'every event has reached the agent',
    )
    assertNothingLost(scenario, last)
    const { answers, cuts } = scenario
    const webhooks = seen.size
    const repeated = agent.webhooks.length - webhooks
    return { ...report, answers, cuts, tasks: last.tasks.size, webhooks, repeated, slowestStartMs }
  }
  try {
    return await withDeployment(folder, await authority.ca, proof)
  } finally {
    if (load) (load as Load).stopped = true
    callers.close()
    await agent.close()
  }
}

/** Some answers, then some milliseconds: a slow machine gets as much done as a fast one. */
export async function enough(scenario: Scenario, load: Load) {
  const goal = scenario.answers + 40 + scenario.random() * 200
  const told = () =>
    `${Math.ceil(goal - scenario.answers)} answers more, after ${scenario.answers} and ${scenario.cuts} that were cut`
  await until(told, () => scenario.answers >= goal || load.stopped, 1)
  await wait(scenario.random() * 20)
}

/** Compares the journal of answers with what is on the disk; then what is there is the base of the next round. */
export function assertNothingLost(scenario: Scenario, stored: StoredState): Step[] {
  const unanswered: Step[] = []
  findUnborn(scenario, stored)
  for (const [id, found] of stored.tasks)
    assert.ok(scenario.jobs.has(id), `${id}, which nobody made: ${JSON.stringify(found)}`)
  const jobs = [...scenario.jobs.values(), ...scenario.unborn.values()]
  for (const job of jobs) {
    unanswered.push(...learnFromKept(job.steps, stored))
    const found = (job.id === undefined ? undefined : stored.tasks.get(job.id)) ?? null
    if (!isReachable(job.base, job.steps, found)) throw new Error(impossible(job, found))
    job.base = found
    job.steps = []
    if (found) job.status = found.status
  }
  scenario.unborn.clear()
  assertPeople(scenario, stored)
  return unanswered
}

/** The kept answer of a callback and its effect are one transaction: where there is one, there is the other. */
function learnFromKept(steps: readonly Step[], { signatures }: StoredState): Step[] {
  return steps.filter(step => {
    if (step.outcome !== 'unknown' || !step.signed) return false
    const kept = signatures.get(step.signed.signature)
    step.outcome = kept !== undefined && kept < 300 ? 'done' : 'refused'
    return true
  })
}

const impossible = (job: { id: string | undefined; base: unknown; steps: readonly Step[] }, found: unknown) =>
  `${job.id} can't be like that:\n${JSON.stringify(found)}\nIt was\n${JSON.stringify(job.base)}\nand then\n${job.steps
    .map(({ signed, ...step }) => JSON.stringify(step))
    .join('\n')}`

/** A creation whose answer was cut off may have happened. */
function findUnborn(scenario: Scenario, stored: StoredState) {
  for (const [id, { title }] of stored.tasks) {
    if (scenario.jobs.has(id)) continue
    const steps = [...scenario.unborn.values()]
    const job = scenario.unborn.get(title) ?? steps.find(one => one.steps.some(step => step.note === title))
    if (job) born(scenario, job, id)
  }
}

function assertPeople(scenario: Scenario, { emails, deposits, tasks, balances }: StoredState) {
  let possible = 0
  for (const buyer of scenario.buyers) {
    if (!buyer.registered) continue
    assert.ok(emails.has(buyer.email), `${buyer.email} has registered, and is gone`)
    for (const id of buyer.deposits) assert.ok(deposits.has(id), `the deposit ${id} is gone`)
    possible += buyer.deposits.length + buyer.cutDeposits
    const held = balances.get(`held:${buyer.id}`)
    const jobs = buyer.jobs.filter(({ id }) => tasks.get(id!)?.money === 'held')
    assert.is(held === 0, jobs.length === 0, `${buyer.email} holds ${held} for ${jobs.length} tasks`)
  }
  // dev itself has made two for its own buyer.
  assert.ok(deposits.size <= possible + 2, `${deposits.size} deposits, of which at most ${possible + 2} were sent`)
}

/** Over HTTP: every task and wallet as the stored had it, sessions and passwords as they were, the ledger sound. */
export async function assertShown(
  scenario: Scenario,
  caller: Caller,
  { tasks, balances }: StoredState,
  { url }: Pick<Running, 'url'>,
) {
  caller.credential = scenario.admin
  const ledger = await caller.call('GET', '/api/admin/ledger/check')
  assert.equal(ledger.problems, [])
  assert.ok(ledger.ok)
  for (const buyer of scenario.buyers) {
    if (!buyer.registered) continue
    caller.credential = buyer.credential
    const shown = new Map<string, string>()
    for (let page = 1, more = true; more; page++) {
      const list = await caller.call('GET', `/api/tasks?role=buyer&limit=100&page=${page}`)
      for (const { id, status } of list.tasks) shown.set(id, status)
      more = list.pagination.hasMore
    }
    const mine = buyer.jobs.filter(({ base }) => base).map(({ id }) => [id!, tasks.get(id!)?.status])
    assert.equal(shown, new Map(mine as [string, string][]), `the tasks of ${buyer.email}`)
    const { wallet } = await caller.call('GET', '/api/wallet')
    assert.is(wallet.heldBalance, balances.get(`held:${buyer.id}`))
    assert.is(wallet.balance, balances.get(`available:${buyer.id}`)! + balances.get(`clearing:${buyer.id}`)!)
  }
  const newest = scenario.buyers.findLast(({ registered }) => registered)!
  const login = new Caller(url)
  await login.call('POST', '/api/auth/login', { email: newest.email, password: PASSWORD })
  login.close()
}

/** What the dead server had not delivered reaches the agent now. */
async function assertDelivered({ agent }: Scenario, { deliveries }: StoredState, running: Running) {
  const open = new Set(deliveries.filter(({ state }) => state !== 'delivered').map(({ id }) => id))
  const before = new Set(deliveries.filter(({ state }) => state === 'delivered').map(({ id }) => id))
  const patience = AbortSignal.timeout(PATIENCE_MS)
  for (;;) {
    const seen = assertTold(agent.webhooks, deliveries)
    for (const id of before) assert.ok(seen.has(id), `${id} counts as delivered, and the agent never saw it`)
    const missing = [...open].filter(id => !seen.has(id))
    if (missing.length === 0) return
    if (patience.aborted) {
      const { out } = await running.kill('SIGTERM')
      const said = out
        .split('\n')
        .filter(line => missing.some(id => line.includes(id)) || /"(?:error|warning)"/.test(line))
      throw new Error(`not sent after the restart: ${missing.join()}\n${said.join('\n')}`)
    }
    await wait(20)
  }
}

/** The same signed request once more: the answer that was kept, or its effect now; never twice. */
export async function sendAgain(
  scenario: Scenario,
  caller: Caller,
  steps: readonly Step[],
  { signatures }: StoredState,
): Promise<number> {
  for (const step of steps) {
    const { path, signature } = step.signed!
    const { status } = await caller.send('POST', step.signed!)
    const kept = signatures.get(signature)
    if (kept !== undefined) assert.is(status, kept, `${path}: the first answer`)
    else if (status < 300) {
      const job = scenario.jobs.get(path.split('/')[4]!)!
      job.steps.push({ ...step, sentAt: scenario.tick(), endedAt: scenario.tick(), outcome: 'done' })
    }
  }
  return steps.length
}
