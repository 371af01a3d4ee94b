/** Mixed load: buyers, the agent and an administrator, each on their own, every answer noted. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Webhook } from './agent.ts'
import { type Answer, type Caller, Cut, type Message } from './caller.ts'
import type { Step } from './history.ts'
import { type Buyer, type Job, newBuyer, PASSWORD, type Scenario, signedRequest } from './scenario.ts'

export interface Load {
  /** The first answer that no server may give under load. */
  fault: Error | null
  stopped: boolean
  /** Resolves once everybody has noticed that the server is gone. */
  ended: Promise<unknown>
}

/**
 * Starts the load; it ends when the server is gone, or after `stopped` was set. `lasting`: others answer in a server's
 * stead, so whoever loses an answer goes on.
 */
export function startLoad(scenario: Scenario, caller: () => Caller, { lasting = false } = {}): Load {
  const load: Load = { fault: null, stopped: false, ended: Promise.resolve() }
  const workers = new Set<Promise<void>>()
  const untilStopped = async (work: () => Promise<void>) => {
    while (!load.stopped) {
      await work().catch(error => {
        if (!(error instanceof Cut)) throw error
        return wait(scenario.away ? 300 : 0)
      })
    }
  }
  const go = (work: () => Promise<void>) => {
    const worker = work()
      .catch(error => {
        if (!(error instanceof Cut)) load.fault ??= error
        if (!lasting || load.fault) load.stopped = true
      })
      .finally(() => workers.delete(worker))
    workers.add(worker)
  }
  const all = async () => {
    while (workers.size) await Promise.all(workers)
    scenario.agent.work = null
  }
  const builder = caller()
  scenario.agent.work = webhook => {
    if (load.stopped) scenario.agent.backlog.push(webhook)
    else go(() => answer(scenario, builder, webhook))
  }
  for (const webhook of scenario.agent.backlog.splice(0)) scenario.agent.work(webhook)
  const keepOn = (work: () => Promise<void>) => go(lasting ? () => untilStopped(work) : work)
  for (const buyer of scenario.buyers) if (buyer.registered) keepOn(() => shop(scenario, caller(), buyer, load))
  keepOn(() => arrive(scenario, caller(), load))
  keepOn(() => judge(scenario, caller(), load))
  load.ended = all()
  return load
}

/** Sends a step and notes how it ended. */
export async function sendStep(
  scenario: Scenario,
  job: Job,
  what: Pick<Step, 'trigger' | 'by' | 'note' | 'signed'>,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const step: Step = { ...what, sentAt: scenario.tick(), endedAt: Number.POSITIVE_INFINITY, outcome: 'unknown' }
  job.steps.push(step)
  const reply = await heard(scenario, send)
  step.endedAt = scenario.tick()
  step.outcome = reply.status < 300 ? 'done' : 'refused'
  if (what.trigger === 'read') step.note = reply.data.status
  const known = reply.data?.task?.status ?? (what.trigger === 'message' ? undefined : reply.data?.status)
  if (known) job.status = known
  return reply
}

/** An answer that is 2xx or an ordinary refusal. */
async function heard(scenario: Scenario, send: () => Promise<Answer>): Promise<Answer> {
  try {
    const reply = await send()
    if (reply.status >= 500 && scenario.away) {
      scenario.refusals++
      throw new Cut('the database is away')
    }
    scenario.answers++
    if (reply.status >= 300 && reply.status !== 400 && reply.status !== 409)
      throw new Error(`an answer of ${reply.status} under load: ${reply.error}`)
    return reply
  } catch (error) {
    if (error instanceof Cut) scenario.cuts++
    throw error
  }
}

/** Registers, deposits, then shops like everybody else, until the server goes. */
async function arrive(scenario: Scenario, caller: Caller, load: Load) {
  const buyer = newBuyer()
  scenario.buyers.push(buyer)
  const body = { email: buyer.email, password: PASSWORD, name: 'A Newcomer' }
  const { data } = await heard(scenario, () => caller.send('POST', { path: '/api/auth/register', body }))
  buyer.registered = true
  buyer.id = data.user.id
  buyer.credential = caller.credential
  await deposit(scenario, caller, buyer)
  await shop(scenario, caller, buyer, load)
}

async function deposit(scenario: Scenario, caller: Caller, buyer: Buyer) {
  const body = { amount: 200 + Math.floor(scenario.random() * 5_000) }
  buyer.cutDeposits++
  const { status, data } = await heard(scenario, () => caller.send('POST', { path: '/api/wallet/deposit', body }))
  buyer.cutDeposits--
  if (status === 201) buyer.deposits.push(data.id)
}

async function shop(scenario: Scenario, caller: Caller, buyer: Buyer, load: Load) {
  caller.credential = buyer.credential
  while (!load.stopped) {
    const open = buyer.jobs.filter(({ retired, id }) => !retired && id !== undefined)
    if (scenario.random() < 0.04) await deposit(scenario, caller, buyer)
    else if (open.length < 4) await create(scenario, caller, buyer)
    else await proceed(scenario, caller, open[Math.floor(scenario.random() * open.length)]!)
  }
}

let number = 0
const words = (what: string) => `${what} ${++number}`

/** Makes a draft. */
export async function create(scenario: Scenario, caller: Caller, buyer: Buyer): Promise<Job> {
  const title = words('Task')
  const job: Job = { title, id: undefined, buyer, base: null, steps: [], status: 'draft', retired: false }
  scenario.unborn.set(title, job)
  const description = 'What the crash tests would like to have.'
  const agreedPrice = 200 + Math.floor(scenario.random() * 100)
  const body = { agentId: scenario.agentId, title, description, agreedPrice }
  const { data } = await sendStep(scenario, job, { trigger: 'create', by: 'buyer', note: title }, () =>
    caller.send('POST', { path: '/api/tasks', body }),
  )
  born(scenario, job, data.id)
  return job
}

/** From now on the job is known by its id. */
export function born(scenario: Scenario, job: Job, id: string) {
  job.id = id
  scenario.unborn.delete(job.title)
  scenario.jobs.set(id, job)
  job.buyer.jobs.push(job)
}

type Choice = [trigger: Step['trigger'], weight: number]

/** What a buyer tries in each status; now and then out of turn. */
const CHOICES: Record<string, Choice[]> = {
  draft: [
    ['submit', 8],
    ['update', 2],
    ['cancel', 1],
    ['approve', 0.2],
  ],
  pending: [
    ['read', 4],
    ['cancel', 1],
    ['message', 1],
  ],
  in_progress: [
    ['read', 4],
    ['message', 1],
    ['dispute', 0.4],
    ['cancel', 0.2],
  ],
  delivered: [
    ['approve', 6],
    ['request_revision', 3],
    ['message', 1],
    ['dispute', 0.6],
    ['submit', 0.2],
  ],
  completed: [
    ['review', 3],
    ['message', 1],
    ['dispute', 1],
  ],
  cancelled: [['read', 1]],
}

async function proceed(scenario: Scenario, caller: Caller, job: Job) {
  const trigger = pick(CHOICES[job.status]!, scenario.random())
  if ((job.status === 'completed' || job.status === 'cancelled') && scenario.random() < 0.5) job.retired = true
  const path = `/api/tasks/${job.id}`
  if (trigger === 'read') {
    await sendStep(scenario, job, { trigger, by: 'buyer', note: '' }, () => caller.send('GET', { path }))
    return
  }
  const note = trigger === 'review' ? String(1 + Math.floor(scenario.random() * 5)) : words(`${trigger} of`)
  const message: Message = {
    path: `${path}/${trigger.replace('_', '-').replace('message', 'messages')}`,
    body: bodyOf(trigger, note),
  }
  if (trigger === 'update') message.path = path
  await sendStep(scenario, job, { trigger, by: 'buyer', note }, () =>
    caller.send(trigger === 'update' ? 'PUT' : 'POST', message),
  )
}

function pick(choices: readonly Choice[], chance: number): Step['trigger'] {
  let rest = chance * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [trigger, weight] of choices) {
    rest -= weight
    if (rest <= 0) return trigger
  }
  return choices[0]![0]
}

function bodyOf(trigger: Step['trigger'], note: string): object | undefined {
  switch (trigger) {
    case 'update':
      return { title: note }
    case 'message':
      return { content: note }
    case 'review':
      return { rating: Number(note) }
    case 'dispute':
    case 'request_revision':
      return { reason: `Because of ${note}` }
    default:
      return undefined
  }
}

/** The agent's part: signed callbacks mostly, its builder's key for the rest. */
async function answer(scenario: Scenario, caller: Caller, { event, data }: Webhook) {
  const job = scenario.jobs.get(data.taskId)
  if (!job) return
  const say = (trigger: Step['trigger'], note = '') => callBack(scenario, caller, job, data.callbackUrl, trigger, note)
  await wait(scenario.random() * 15)
  if (event === 'task.message' && scenario.random() < 0.4) await say('message', words('reply'))
  if (event === 'task.revision_requested') await say('deliver', words('work'))
  if (event !== 'task.submitted') return
  if (scenario.random() < 0.1) return void (await say('reject'))
  await say('accept')
  await say('deliver', words('work'))
}

async function callBack(
  scenario: Scenario,
  caller: Caller,
  job: Job,
  callbackUrl: string,
  trigger: Step['trigger'],
  note: string,
) {
  const content = trigger === 'deliver' || trigger === 'message' ? { content: note } : {}
  if (trigger !== 'message' && scenario.random() < 0.3) {
    const headers = { authorization: `Bearer ${scenario.builderKey}` }
    const message = {
      path: `/api/agent/tasks/${job.id}/${trigger}`,
      headers,
      body: trigger === 'deliver' ? content : undefined,
    }
    await sendStep(scenario, job, { trigger, by: 'builder', note }, () => caller.send('POST', message))
    return
  }
  const signed = signedRequest(scenario.agent.secret, callbackUrl, { action: trigger, taskId: job.id, ...content })
  await sendStep(scenario, job, { trigger, by: 'builder', note, signed }, () => caller.send('POST', signed))
}

/** Resolves what is disputed, as far as anybody has heard. */
async function judge(scenario: Scenario, caller: Caller, load: Load) {
  caller.credential = scenario.admin
  while (!load.stopped) {
    await wait(20)
    const job = [...scenario.jobs.values()].find(({ steps, base }) =>
      steps.some(step => step.trigger === 'dispute' && step.outcome === 'done')
        ? !steps.some(step => step.trigger.startsWith('resolve'))
        : base?.dispute === 'open' && !steps.some(step => step.trigger.startsWith('resolve')),
    )
    if (!job) continue
    const outcome = scenario.random() < 0.5 ? 'refund' : 'release'
    await sendStep(scenario, job, { trigger: `resolve_${outcome}`, by: 'admin', note: '' }, () =>
      caller.send('POST', { path: `/api/admin/tasks/${job.id}/resolve`, body: { outcome } }),
    )
  }
}
