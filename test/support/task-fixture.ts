/** The people around one task, the ways to pull each trigger, and tasks brought into each situation over the wire. */

import type { TaskRecord } from '../../src/api/records.ts'
import type { Answer } from '../../src/sim/http-user.ts'
import { engine } from './databases.ts'
import { openInstances } from './instances.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from './marketplace.ts'
import { price, type Situation, splitRefund, type Trigger, window48h } from './task-rules.ts'

export const actors = ['buyer', 'builder', 'another buyer', 'another builder', 'admin', 'nobody'] as const
export type ActorName = (typeof actors)[number]

/** By the task's own endpoint with a key, by the agent's endpoint, by the signed callback, or with a session. */
export type Route = 'key' | 'agent' | 'signed' | 'session'

export const routesOf: Record<Trigger, readonly Route[]> = {
  update: ['key'],
  submit: ['key'],
  cancel: ['key'],
  accept: ['key', 'agent', 'signed'],
  reject: ['agent', 'signed'],
  deliver: ['key', 'agent', 'signed'],
  approve: ['key'],
  request_revision: ['key'],
  dispute: ['key'],
  message: ['key', 'signed'],
  review: ['key'],
  resolve_refund: ['session'],
  resolve_release: ['session'],
  resolve_split: ['session'],
}

export const words = {
  revision: 'Once more, with feeling.',
  dispute: 'This is not what was asked for.',
  message: 'How is it going?',
}

export const bodies: Record<Trigger, object | undefined> = {
  update: { title: 'A better title' },
  submit: undefined,
  cancel: undefined,
  accept: undefined,
  reject: { reason: 'Too much to do.' },
  deliver: { content: 'Here it is.', notes: 'With care.' },
  approve: undefined,
  request_revision: { reason: words.revision },
  dispute: { reason: words.dispute },
  message: { content: words.message },
  review: { rating: 4, comment: 'Good.' },
  resolve_refund: { outcome: 'refund' },
  resolve_release: { outcome: 'release' },
  resolve_split: { outcome: 'split', refundAmount: splitRefund },
}

export const pathOf = (trigger: Trigger, id: string): string => {
  if (trigger === 'update') return `/api/tasks/${id}`
  if (trigger.startsWith('resolve_')) return `/api/admin/tasks/${id}/resolve`
  if (trigger === 'message') return `/api/tasks/${id}/messages`
  return `/api/tasks/${id}/${trigger.replace('_', '-')}`
}

export interface Fixture {
  marketplace: TestMarketplace
  /** Where it answers: at each of its instances. */
  urls: readonly string[]
  /** Lets domain time pass at all of them; nothing is done about it yet. */
  advance(ms: number): void
  agent: ListedAgent
  users: Record<Exclude<ActorName, 'nobody'>, TestUser>
  /** One actor pulls one trigger by one route. */
  pull(actor: ActorName, trigger: Trigger, id: string, route?: Route): Promise<Answer<TaskRecord>>
  /** Fresh tasks, one in each of these situations. Time passes if one of them needs it to. */
  bring(wanted: readonly Situation[]): Promise<{ situation: Situation; id: string }[]>
}

/** `instances`: so many share the database, where the engine lets them. */
export async function openFixture({ instances = 1 } = {}): Promise<Fixture> {
  const { marketplace, urls, advance } =
    instances > 1 && engine === 'postgres' ? await openSeveral(instances) : await openOne()
  const [buyer, builder, buyer2, builder2] = await Promise.all([
    marketplace.join('buyer', 1_000_000),
    marketplace.join('builder'),
    marketplace.join('another.buyer', 10_000),
    marketplace.join('another.builder'),
  ])
  const users = { buyer, builder, 'another buyer': buyer2, 'another builder': builder2, admin: marketplace.admin }
  const agent = await marketplace.list(builder)
  const secrets: Partial<Record<ActorName, string>> = {
    builder: agent.secret,
    'another builder': (await marketplace.list(builder2)).secret,
  }

  async function pull(actor: ActorName, trigger: Trigger, id: string, route = routesOf[trigger][0]!) {
    const body = bodies[trigger]
    if (route === 'signed' && actor !== 'nobody') {
      const secret = secrets[actor] ?? users[actor].key!
      return marketplace.callback<TaskRecord>({ secret }, id, { action: trigger, ...body })
    }
    const user = actor === 'nobody' ? marketplace.visitor : users[actor]
    if (route === 'signed') return user.ask<TaskRecord>('POST', `/api/agent/tasks/${id}/callback`, { action: trigger })
    const path = route === 'agent' ? `/api/agent/tasks/${id}/${trigger}` : pathOf(trigger, id)
    return user.ask<TaskRecord>(trigger === 'update' ? 'PUT' : 'POST', path, body, route === 'session' ? route : 'key')
  }

  async function walk(situation: Situation): Promise<string> {
    const { id } = await marketplace.draft(buyer, agent, { agreedPrice: price })
    for (const [actor, trigger] of reachTo[situation]) {
      const { status, error } = await pull(actor, trigger, id)
      if (status !== 200) throw new Error(`${trigger} on the way to ${situation}: ${status} ${error}`)
    }
    return id
  }

  async function bring(wanted: readonly Situation[]) {
    const late = wanted.filter(situation => situation.includes('48 h'))
    const made = []
    for (const situation of late) made.push({ situation, id: await walk(situation) })
    if (late.length > 0) {
      await marketplace.pass(window48h)
      await marketplace.freshen(agent)
    }
    for (const situation of wanted) if (!late.includes(situation)) made.push({ situation, id: await walk(situation) })
    return made
  }

  return { marketplace, urls, advance, agent, users, pull, bring }
}

type Premises = Pick<Fixture, 'marketplace' | 'urls' | 'advance'>

async function openOne(): Promise<Premises> {
  // A simulator would search what is wrong with each signature, for longer than all the rest of its request takes.
  const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
  return {
    marketplace,
    urls: [marketplace.url],
    advance: ms => marketplace.world.advance(marketplace.world.now() + ms),
  }
}

async function openSeveral(count: number): Promise<Premises> {
  const { marketplace, join, advance, runDue, close } = await openInstances()
  const urls = [marketplace.url]
  while (urls.length < count) urls.push((await join()).url)
  const pass = (ms: number) => {
    advance(ms)
    return runDue()
  }
  return { marketplace: { ...marketplace, pass, close }, urls, advance }
}

type Way = readonly (readonly [ActorName, Trigger])[]

const submitted: Way = [['buyer', 'submit']]
const accepted: Way = [...submitted, ['builder', 'accept']]
const delivered: Way = [...accepted, ['builder', 'deliver']]
const approved: Way = [...delivered, ['buyer', 'approve']]

const reachTo: Record<Situation, Way> = {
  draft: [],
  pending: submitted,
  in_progress: accepted,
  'in_progress, disputed': [...accepted, ['buyer', 'dispute']],
  delivered,
  'delivered, disputed': [...delivered, ['buyer', 'dispute']],
  completed: approved,
  'completed, disputed': [...approved, ['buyer', 'dispute']],
  'completed 48 h ago': approved,
  'completed 48 h ago, disputed in time': [...approved, ['buyer', 'dispute']],
  'completed by a resolution': [...delivered, ['buyer', 'dispute'], ['admin', 'resolve_release']],
  cancelled: [...submitted, ['buyer', 'cancel']],
  'cancelled by a resolution': [...delivered, ['buyer', 'dispute'], ['admin', 'resolve_refund']],
}
