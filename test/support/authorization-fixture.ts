/** Two buyers with two builders, and on each side whatever an endpoint can be asked about. */
import type { TaskRecord } from '../../src/api/records.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { samples } from '../web/files.ts'
import type { Person } from './authorization-matrix.ts'
import { checkedFetch } from './contract.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
  taskFields,
} from './marketplace.ts'

/** The values of a path's parameters. */
export type Params = Readonly<Record<string, string>>

export interface Side {
  buyer: TestUser
  builder: TestUser
  agent: ListedAgent
}

export interface Fixture {
  marketplace: TestMarketplace
  sides: readonly [Side, Side]
  people: Record<Person, TestUser>
  /** A fresh one, of this side. */
  make(kind: Kind, side: Side): Promise<Params>
  close(): Promise<void>
}

export const caps = { maxPerTask: 200, maxDaily: 200, maxMonthly: 200 }

/** On the embedded engine alone: who may is decided before either is asked. `payments: manual` is for the payments that an administrator decides: there, nothing else can be paid. */
export async function openSides(payments: 'sandbox' | 'manual' = 'sandbox'): Promise<Fixture> {
  const marketplace = await openTestMarketplace({ payments })
  const open = async (name: string): Promise<Side> => {
    const buyer = await marketplace.join(`${name}.buyer`, payments === 'sandbox' ? 900_000 : 0)
    const builder = await marketplace.join(`${name}.builder`, payments === 'sandbox' ? 10_000 : 0)
    return { buyer, builder, agent: await marketplace.list(builder) }
  }
  const sides = [await open('first'), await open('second')] as const
  await marketplace.admin.client.deposit({ amount: 10_000 })
  const people = {
    buyer: sides[0].buyer,
    'other buyer': sides[1].buyer,
    builder: sides[0].builder,
    'other builder': sides[1].builder,
    admin: marketplace.admin,
  }
  for (const { id } of Object.values(people))
    await marketplace.admin.client.adminUpdateUser({ id, connectStatus: 'connected' })
  return {
    marketplace,
    sides,
    people,
    make: (kind, side) => makers[kind](marketplace, side),
    close: () => marketplace.close(),
  }
}

type Maker = (marketplace: TestMarketplace, side: Side) => Promise<Params>

const task =
  (...steps: ((marketplace: TestMarketplace, side: Side, id: string) => Promise<unknown>)[]): Maker =>
  async (marketplace, side) => {
    const { id } = await marketplace.draft(side.buyer, side.agent, taskFields)
    for (const step of steps) await step(marketplace, side, id)
    return { id }
  }

const submit = (_: TestMarketplace, { buyer }: Side, id: string) => buyer.client.submitTask({ id })
const accept = (_: TestMarketplace, { builder }: Side, id: string) => builder.client.acceptTask({ id })
const deliver = (_: TestMarketplace, { builder }: Side, id: string) =>
  builder.client.deliverTask({ id, content: 'Here it is.' })
const approve = (_: TestMarketplace, { buyer }: Side, id: string) => buyer.client.approveTask({ id })
const review = (_: TestMarketplace, { buyer }: Side, id: string) => buyer.client.submitReview({ id, rating: 5 })

const agent =
  (status: string): Maker =>
  async (marketplace, { builder }) => {
    const { id } = await marketplace.list(builder)
    await marketplace.market.db.write(tx => tx.run('UPDATE agents SET status = $2 WHERE id = $1', [id, status]))
    return { id }
  }

async function withFile(marketplace: TestMarketplace, side: Side): Promise<Params> {
  const { id } = await task(submit, accept)(marketplace, side)
  const form = new FormData()
  form.append('files', new Blob([new Uint8Array(samples.png!)]), 'a.png')
  const headers = { authorization: `Bearer ${side.builder.key}` }
  const url = `${marketplace.url}/api/agent/tasks/${id}/deliver`
  const reply = await fetch(url, { method: 'POST', headers, body: form })
  const { data } = (await reply.json()) as { data: { task: TaskRecord } }
  return { id: id!, fileId: data.task.deliverable!.files[0]!.id }
}

async function delivery(marketplace: TestMarketplace, side: Side): Promise<Params> {
  await task(submit)(marketplace, side)
  const { items } = await side.builder.client.listDeliveries({ id: side.agent.id })
  return { id: side.agent.id, deliveryId: items[0]!.id }
}

/** The row of a test that runs, whose first callback came already. */
async function test({ market, world }: TestMarketplace, { agent }: Side): Promise<Params> {
  const id = world.id('test')
  const sql = `UPDATE agent_tests SET id = $1, started_at = $3, callback = '{"isSigned":true,"fault":null,"finding":null}', ended = 0 WHERE agent_id = $2`
  await market.db.write(tx => tx.run(sql, [id, agent.id, world.realNow()]))
  return { id }
}

async function notification(marketplace: TestMarketplace, side: Side): Promise<Params> {
  const { id } = await task(submit, accept)(marketplace, side)
  const { client } = marketplace.admin
  await client.resolveTask({ id: id!, outcome: 'refund' })
  const { items } = await side.buyer.client.listNotifications()
  return { id: items[0]!.id }
}

const budget = async (marketplace: TestMarketplace, { buyer, builder }: Side): Promise<{ id: string }> => {
  const { id: agentId } = await marketplace.list(builder)
  return buyer.client.createBudget({ agentId, ...caps })
}

const makers = {
  'draft task': task(),
  'pending task': task(submit),
  'task in progress': task(submit, accept),
  'delivered task': task(submit, accept, deliver),
  'completed task': task(submit, accept, deliver, approve),
  'reviewed task': task(submit, accept, deliver, approve, review),
  'task with a file': withFile,
  'listed agent': agent('verified'),
  'pending agent': agent('pending_review'),
  'draft agent': agent('draft'),
  'inactive agent': agent('inactive'),
  sample: async (marketplace, side) => {
    const { id } = await marketplace.list(side.builder)
    const { id: sampleId } = await side.builder.client.addSample({ id, title: 'A sample', output: 'x' })
    return { id, sampleId }
  },
  delivery,
  test,
  key: async (_, { builder }) => ({ id: (await builder.client.createKey({ name: 'one more' })).keyInfo.id }),
  session: async ({ url }, { buyer: { email, password } }) => {
    const elsewhere = new HttpUser(url, checkedFetch)
    await elsewhere.client.login({ email, password })
    const { items } = await elsewhere.client.listSessions()
    return { id: items.find(({ current }) => current)!.id }
  },
  notification,
  budget: async (marketplace, side) => ({ id: (await budget(marketplace, side)).id }),
  'paused budget': async (marketplace, side) => {
    const { id } = await budget(marketplace, side)
    await side.buyer.client.pauseBudget({ id })
    return { id }
  },
  user: async (_, { buyer }) => ({ id: buyer.id, userId: buyer.id }),
  category: async ({ admin, world }) => {
    const name = `Category ${world.id('n')}`
    const { id } = await admin.client.createCategory({ name, description: 'Made by a test' })
    return { id }
  },
  deposit: async (_, { buyer }) => ({ id: (await buyer.client.deposit({ amount: 200 })).id }),
  withdrawal: async ({ admin }, { buyer }) => {
    const { id } = await buyer.client.deposit({ amount: 200 })
    await admin.client.confirmDeposit({ id })
    return { id: (await buyer.client.withdraw({ amount: 200 })).id }
  },
  fault: async ({ admin }) => ({ id: (await admin.client.armFault({ name: 'copy', agentId: 'agt_nobody' })).id }),
  exchange: async ({ admin }) => ({ id: (await admin.client.listExchanges()).items[0]!.id }),
} satisfies Readonly<Record<string, Maker>>

export type Kind = keyof typeof makers
