/** A marketplace with simulated buyers and agents that work at once, in this process. */
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../../src/api/records.ts'
import type { StampedEntry } from '../../../src/market/log.ts'
import { personas } from '../../../src/sim/buyers/personas.ts'
import { SimulatedBuyers } from '../../../src/sim/buyers/simulated-buyers.ts'
import { answered } from '../../../src/world/virtual.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'

export interface Scene {
  marketplace: TestMarketplace
  log: StampedEntry[]
  /** Opens simulated buyers of these personas. */
  live(names: readonly string[], seed?: string): Promise<SimulatedBuyers>
  move(ms: number): Promise<{ kind: string; about: string | null; id: string }[]>
  tasks(): Promise<(TaskRecord & { buyer: string })[]>
  /** With all buyers that live in it. */
  close(): Promise<void>
}

/** `told`: hears each entry of the log, before the buyers do. */
export async function openScene(told = (_: StampedEntry) => {}): Promise<Scene> {
  const log: StampedEntry[] = []
  let hear = (_: StampedEntry) => {}
  const opened: SimulatedBuyers[] = []
  const marketplace = await openTestMarketplace({
    log: entry => {
      log.push(entry)
      told(entry)
      hear(entry)
    },
  })
  const { market, admin } = marketplace
  await marketplace.stopHeartbeat()
  return {
    marketplace,
    log,
    async live(names, seed = 'seed 8123') {
      const asked = personas.filter(({ name }) => names.includes(name))
      const buyers = await SimulatedBuyers.open({
        market,
        adminId: admin.id,
        personas: asked,
        seed,
        hearing: { webhookUrl: 'https://hearing.localhost/' },
      })
      hear = entry => buyers.hear(entry)
      buyers.begin()
      opened.push(buyers)
      return buyers
    },
    async move(ms) {
      const moved = await admin.client.moveClock({ advanceMs: ms })
      assert.is(moved.stopped, null)
      await marketplace.checkLedger()
      return moved.done
    },
    async tasks() {
      const sql = `SELECT tasks.id, email FROM tasks JOIN users ON users.id = buyer_id ORDER BY tasks.id`
      const rows = await market.db.read(q => q.all<{ id: string; email: string }>(sql))
      const all = await Promise.all(rows.map(({ id }) => admin.client.getTask({ id })))
      return all.map((task, n) => ({ ...task, buyer: rows[n]!.email.split('@')[0]! }))
    },
    async close() {
      for (const buyers of opened) await buyers.close()
      await marketplace.close()
    },
  }
}

/** Accepts and delivers each task at once, and each revision. */
export async function worker({ marketplace }: Scene, name: string, fields = {}): Promise<ListedAgent> {
  const builder = await marketplace.join(`builder-of-${name.toLowerCase()}`)
  const agent = await marketplace.list(builder, { name, ...fields }, marketplace.sink(`${name}.localhost`))
  agent.sink.answer = async () => {
    const { event, data } = agent.sink.received.at(-1) ?? {}
    const say = (body: object) => marketplace.callback(agent, data!.taskId, body)
    if (event === 'task.submitted') await say({ action: 'accept' })
    if (event === 'task.submitted' || event === 'task.revision_requested')
      await say({ action: 'deliver', content: 'Here it is' })
    return answered(200)
  }
  return agent
}

export const isOpen = ({ status, dispute }: TaskRecord) =>
  ['pending', 'in_progress', 'delivered'].includes(status) || dispute?.status === 'open'

/** What became of a task, without what differs between two runs. */
export const storyOf = ({
  buyer,
  agent,
  title,
  status,
  revisionCount,
  dispute,
}: Awaited<ReturnType<Scene['tasks']>>[number]) =>
  [buyer, agent.slug, title, status, revisionCount, dispute?.outcome ?? '-'].join(' | ')
