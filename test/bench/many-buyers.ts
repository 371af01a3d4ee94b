/** What is measured on Postgres: tasks of many buyers, since those of one would wait for the money of one account. */
import type { Market } from '../../src/market/market.ts'
import { built } from './built.ts'
import { furnish, insertDraft } from './furnish.ts'

const { createUser } = await built<typeof import('../../src/market/accounts/accounts.ts')>('market/accounts/accounts')
const { createKeyFor } = await built<typeof import('../../src/market/accounts/keys.ts')>('market/accounts/keys')

export interface Draft {
  id: string
  /** Of its buyer. */
  key: string
}

/** Makes tasks that can be submitted, for so many agents. */
export type MakeDrafts = (count: number, agents?: number) => Promise<Draft[]>

const BUYERS = 200
const AGENTS = 200
const CHUNK = 200

/** Makes accounts with money and a key, and agents that take webhooks. */
export async function furnishForMany(market: Market, sinkPort: number): Promise<MakeDrafts> {
  const { db, world } = market
  const { agentIds, builders } = await furnish(market, { agents: AGENTS, tasks: 0, sinkPort })
  const buyers = await db.write(async tx => {
    const all: { id: string; key: string }[] = []
    for (let n = 0; n < BUYERS; n++) {
      const person = { email: `b${n}@bench.example`, name: `Buyer ${n}`, passwordHash: '', isAdmin: false }
      const { id } = await createUser(tx, world, { ...person, isBuilder: true })
      const { key } = await createKeyFor(tx, world, id, 'bench')
      await tx.run(`UPDATE accounts SET balance = 1000000000 WHERE id = 'available:' || $1`, [id])
      all.push({ id, key })
    }
    return all
  })
  return async (count, agents = AGENTS) => {
    const drafts: Draft[] = []
    for (let from = 0; from < count; from += CHUNK) {
      await db.write(async tx => {
        const inserted: Promise<unknown>[] = []
        for (let n = from; n < Math.min(from + CHUNK, count); n++) {
          const buyer = buyers[n % buyers.length]!
          const id = world.id('task')
          drafts.push({ id, key: buyer.key })
          const at = (n * 7) % agents
          const builderId = builders[at % builders.length]!.user.id
          const parties = { agentId: agentIds[at]!, buyerId: buyer.id, builderId }
          inserted.push(insertDraft(tx, { id, ...parties, createdAt: world.now() }, n))
        }
        await Promise.all(inserted)
      })
    }
    return drafts
  }
}
