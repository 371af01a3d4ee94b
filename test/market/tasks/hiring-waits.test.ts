// engines: postgres; process: shared
/**
 * Who waits for whom when an agent is hired: one of two requests stands still before its commit, and the other ends meanwhile, or
 * waits until the first has ended. Source: A-319.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Db, Tx } from '../../../src/store/db.ts'
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
  (method: string, path: string, body?: object) =>
  ({ builder, agent }: Scene): Ask =>
  () =>
    builder.ask(method, `/api/my/agents/${agent.id}${path}`, body)

const ofBudget =
  (method: string, path: string, body?: object) =>
  ({ buyer, budget }: Scene): Ask =>
  () =>
    buyer.ask(method, `/api/budget-authorizations/${budget}${path}`, body)

const ofAccount =
  (who: 'builder' | 'buyer', body: object) =>
  (scene: Scene): Ask =>
  () =>
    admin.ask('PUT', `/api/admin/users/${scene[who].id}`, body)

/** Of another task with the same agent. */
const ofTask =
  (trigger: string, body: object | undefined, by: 'same' | 'another') =>
  async ({ buyer, builder, agent }: Scene): Promise<Ask> => {
    const who = by === 'same' ? buyer : await marketplace.join(named('other'), 100_000)
    const { id } = await marketplace.draft(who, agent)
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
  'a pause of the budget': { waits: true, fromBudget: true, ask: ofBudget('POST', '/pause'), late: { submit: 403 } },
  'a smaller budget': { waits: true, fromBudget: true, ask: ofBudget('PUT', '', { maxDaily: 900 }) },
  'a deletion of the budget': { waits: true, fromBudget: true, ask: ofBudget('DELETE', '') },
  'a pause of another budget': { waits: false, ask: ofBudget('POST', '/pause') },
  'a dispute of the same buyer': { waits: false, ask: ofTask('dispute', { reason: 'Not what was asked.' }, 'same') },
  'a dispute of another buyer': { waits: false, ask: ofTask('dispute', { reason: 'Not what was asked.' }, 'another') },
  'an approval of another buyer': { waits: false, ask: ofTask('approve', undefined, 'another') },
  'a submit of the same buyer': { waits: true, ask: ofTask('submit', undefined, 'same') },
  'a submit of another buyer': { waits: false, ask: ofTask('submit', undefined, 'another') },
  'a suspension of the builder': { waits: false, ask: ofAccount('builder', { suspended: true }) },
  'a ban of the builder': { waits: false, ask: ofAccount('builder', { banned: true }) },
  'a suspension of the buyer': { waits: false, ask: ofAccount('buyer', { suspended: true }) },
  'a ban of the buyer': { waits: false, ask: ofAccount('buyer', { banned: true }) },
}

let count = 0
const named = (who: string) => `${who}-${++count}`

async function prepare({ fromBudget }: Pair): Promise<Scene> {
  const builder = await marketplace.join('builder', 0, named('builder'))
  const buyer = await marketplace.join(named('buyer'), 100_000)
  return { builder, buyer } as Scene
}

/** The next request that writes does all it has to, and stands still before its commit. */
function holdNext() {
  const { write } = db
  let release = () => {}
  let begun = () => {}
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
        await tx.get('SELECT 1 AS one')
        begun()
        await Promise.race([isReleased, wait(500)])
      } while (!isOver)
      return result
    }
  return { isBegun, release }
}
