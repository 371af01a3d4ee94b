// engines: postgres; process: shared
/**
 * Who waits for whom when an agent is hired: one of two requests stands still before its commit, and the other ends meanwhile, or
 * waits until the first has ended. Source: A-319.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Method } from '../../../src/client/transport.ts'
import type { Tx } from '../../../src/store/db.ts'
import { type ListedAgent, openTestMarketplace, type TestUser } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

const marketplace = await openTestMarketplace({ rateLimits: 'off', payments: 'sandbox' })
const { db } = marketplace.market
const { admin } = marketplace
test.after(() => marketplace.close())

interface Scene {
  builder: TestUser
  buyer: TestUser
  agent: ListedAgent
  /** The draft that is submitted. */
  id: string
  /** What the draft is paid from, or another authorization. */
  budget: string
}

type Ask = () => Promise<{ status: number; error?: string | undefined }>

interface Pair {
  waits: boolean
  /** The submit is paid from the budget. */
  fromBudget?: true
  /** Prepares what is asked. */
  ask(scene: Scene): Ask | Promise<Ask>
  /** What the second is answered if it comes after the first, submit or not; 200 unless it is named. */
  late?: { submit?: number; other?: number }
}

const ofAgent =
  (method: Method, path: string, body?: object) =>
  ({ builder, agent }: Scene): Ask =>
  () =>
    builder.ask(method, `/api/my/agents/${agent.id}${path}`, body)

const ofBudget =
  (method: Method, path: string, body?: object) =>
  ({ buyer, budget }: Scene): Ask =>
  () =>
    buyer.ask(method, `/api/budget-authorizations/${budget}${path}`, body)

const ofAccount =
  (who: 'builder' | 'buyer', body: object) =>
  (scene: Scene): Ask =>
  () =>
    admin.ask('PUT', `/api/admin/users/${scene[who].id}`, body)

/** Sums are kept in sixteen rows each: tasks that count in one row wait for each other there. */
const rowOf = (id: string) => id.charCodeAt(id.length - 1) % 16

/** Of another task with the same agent, which counts in another row, or in the same. */
const ofTask =
  (trigger: string, body: object | undefined, by: 'same' | 'another', inRow: 'same' | 'another' = 'another') =>
  async ({ buyer, builder, agent, id: submitted }: Scene): Promise<Ask> => {
    const who = by === 'same' ? buyer : await marketplace.join(named('other'), 100_000)
    let id = ''
    await until('a draft of such a row', async () => {
      id = (await marketplace.draft(who, agent)).id
      return (rowOf(id) === rowOf(submitted)) === (inRow === 'same')
    })
    if (trigger !== 'submit') {
      await who.call('POST', `/api/tasks/${id}/submit`)
      await builder.call('POST', `/api/agent/tasks/${id}/accept`, undefined, 'key')
      await builder.call('POST', `/api/agent/tasks/${id}/deliver`, { content: 'Here it is.' }, 'key')
    }
    return () => who.ask('POST', `/api/tasks/${id}/${trigger}`, body)
  }

const pairs: Readonly<Record<string, Pair>> = {
  'a deactivation': { waits: false, ask: ofAgent('POST', '/deactivate') },
  'a rotation of the secret': { waits: false, ask: ofAgent('POST', '/webhook-secret') },
  'another price': { waits: false, ask: ofAgent('PUT', '', { basePrice: 700 }) },
  'a deletion': { waits: true, ask: ofAgent('DELETE', ''), late: { submit: 400, other: 409 } },
  'a pause of the budget': { waits: true, fromBudget: true, ask: ofBudget('POST', '/pause'), late: { submit: 400 } },
  'a smaller budget': { waits: true, fromBudget: true, ask: ofBudget('PUT', '', { maxDaily: 1_500 }) },
  'a deletion of the budget': {
    waits: true,
    fromBudget: true,
    ask: ofBudget('DELETE', ''),
    late: { submit: 400, other: 409 },
  },
  'a pause of another budget': { waits: false, ask: ofBudget('POST', '/pause') },
  'a dispute of the same buyer': { waits: false, ask: ofTask('dispute', { reason: 'Not what was asked.' }, 'same') },
  'a dispute of another buyer': { waits: false, ask: ofTask('dispute', { reason: 'Not what was asked.' }, 'another') },
  'an approval of another buyer': { waits: false, ask: ofTask('approve', undefined, 'another') },
  'a submit of the same buyer': { waits: true, ask: ofTask('submit', undefined, 'same') },
  'a submit of another buyer': { waits: false, ask: ofTask('submit', undefined, 'another') },
  'a submit of another buyer that counts in the same row': {
    waits: true,
    ask: ofTask('submit', undefined, 'another', 'same'),
  },
  'a suspension of the builder': { waits: false, ask: ofAccount('builder', { suspended: true }) },
  'a ban of the builder': { waits: false, ask: ofAccount('builder', { banned: true }) },
  'a suspension of the buyer': { waits: false, ask: ofAccount('buyer', { suspended: true }) },
  'a ban of the buyer': { waits: false, ask: ofAccount('buyer', { banned: true }) },
}

let count = 0
const named = (who: string) => `${who}-${++count}`

async function prepare({ fromBudget }: Pair): Promise<Scene> {
  const builder = await marketplace.join(named('builder'))
  const buyer = await marketplace.join(named('buyer'), 100_000)
  const agent = await marketplace.list(builder)
  const own = await buyer.call<{ id: string }>('POST', '/api/my/agents', SPENDER)
  const caps = { maxPerTask: 1_000, maxDaily: 2_000, maxMonthly: 2_000 }
  const given = { agentId: own.id, ...caps }
  const { id: budget } = await buyer.call<{ id: string }>('POST', '/api/budget-authorizations', given)
  const fields = { agreedPrice: 500, ...(fromBudget && { budgetAuthorizationId: budget }) }
  const { id } = await marketplace.draft(buyer, agent, fields)
  return { builder, buyer, agent, id, budget }
}

const SPENDER = {
  name: 'Spender',
  tagline: 'Spends what it is given',
  description: 'An agent that hires others from what its owner lets it spend.',
  pricingModel: 'fixed',
  basePrice: 500,
  categoryIds: ['cat_code'],
}

/** The next request that writes does all it has to, and stands still before its commit. */
function holdNext() {
  const { write } = db
  let release = () => {}
  let begun = () => {}
  let pid = 0
  const isReleased = new Promise<void>(resolve => (release = resolve))
  const isBegun = new Promise<void>(resolve => (begun = resolve))
  db.write = (work, flow) => {
    // What the marketplace does by itself.
    if (flow === undefined) return write.call(db, work) as never
    db.write = write
    return write.call(db, held(work), flow) as never
  }
  const held =
    <T>(work: (tx: Tx) => Promise<T>) =>
    async (tx: Tx) => {
      const result = await work(tx)
      let isOver = false
      void isReleased.then(() => {
        isOver = true
      })
      // The server ends a transaction that does not speak.
      do {
        pid = (await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!.pid
        begun()
        await Promise.race([isReleased, wait(500)])
      } while (!isOver)
      return result
    }
  return { isBegun, release, pid: () => pid }
}

const blocks = async (pid: number) => {
  const sql = 'SELECT COUNT(*) AS count FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))'
  return (await db.read(q => q.get<{ count: number }>(sql, [pid])))!.count > 0
}

/** The first stands still, the second is asked. Returns whether it waited, and what both were answered. */
async function inTurn(first: Ask, second: Ask) {
  const { isBegun, release, pid } = holdNext()
  try {
    const held = first()
    await Promise.race([isBegun, held])
    let hasEnded = false
    const other = second().finally(() => {
      hasEnded = true
    })
    let waited = false
    await until('an end, or a wait', async () => {
      waited = !hasEnded && (await blocks(pid()))
      return hasEnded || waited
    })
    release()
    const answers = await Promise.all([held, other])
    return { waited, statuses: answers.map(({ status }) => status) }
  } finally {
    release()
  }
}

for (const [name, pair] of Object.entries(pairs)) {
  const { waits, late = {} } = pair
  const said = waits ? 'one waits for the other' : 'neither waits for the other'
  test(`a submit ‖ ${name}: ${said}`, async () => {
    for (const isFirst of [true, false]) {
      const scene = await prepare(pair)
      const ask = await pair.ask(scene)
      const submit: Ask = () => scene.buyer.ask('POST', `/api/tasks/${scene.id}/submit`)
      const { waited, statuses } = await (isFirst ? inTurn(submit, ask) : inTurn(ask, submit))
      const order = isFirst ? 'the submit is first' : 'it is first'
      assert.is(waited, waits, order)
      const expected = isFirst ? [200, late.other ?? 200] : [200, late.submit ?? 200]
      assert.equal(statuses, expected, order)
      await marketplace.checkLedger()
    }
  })
}

test.run()
