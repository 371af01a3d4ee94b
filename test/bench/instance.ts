/** Our side on Postgres: one instance of the built marketplace, in a process of its own. */
import type { Actor } from '../../src/market/market.ts'
import type { Marketplace } from '../../src/open.ts'
import type { BucketOptions } from '../../src/world/bucket.ts'
import { built } from './built.ts'
import { furnish, insertDraft } from './furnish.ts'
import { answer } from './worker.ts'

interface InstanceOptions {
  url: string
  bucket: BucketOptions
  ca: string
}

export interface Draft {
  id: string
  key: string
}

const { openMarketplace } = await built<typeof import('../../src/open.ts')>('open')
const { createUser } = await built<typeof import('../../src/market/accounts/accounts.ts')>('market/accounts/accounts')
const { createKeyFor } = await built<typeof import('../../src/market/accounts/keys.ts')>('market/accounts/keys')

let house: Marketplace
let buyers: { id: string; key: string }[] = []
let agentIds: string[] = []
let builders: readonly Actor[] = []
let sent = 0

const BUYERS = 200
const AGENTS = 200
const CHUNK = 200

answer({
  /** The whole: server, dispatcher, clock. */
  async open({ url, bucket, ca }: InstanceOptions) {
    house = await openMarketplace({
      mode: 'dev',
      file: null,
      postgres: { url, poolSize: 32 },
      bucket,
      secretKey: Buffer.alloc(32, 7).toString('base64'),
      ca,
      log: entry => {
        if (entry.type === 'webhook') sent++
      },
      onFatal: error => {
        throw error
      },
    })
    return Number(new URL(house.url).port)
  },

  /** Accounts with money and a key, and agents that take webhooks. */
  async furnish(sinkPort: number) {
    const made = await furnish(house.market, { agents: AGENTS, tasks: 0, sinkPort })
    agentIds = made.agentIds
    builders = made.builders
    const { db, world } = house.market
    buyers = await db.write(async tx => {
      const all: typeof buyers = []
      for (let n = 0; n < BUYERS; n++) {
        const person = { email: `b${n}@bench.example`, name: `Buyer ${n}`, passwordHash: '', isAdmin: false }
        const { id } = await createUser(tx, world, { ...person, isBuilder: true })
        const { key } = await createKeyFor(tx, world, id, 'bench')
        await tx.run(`UPDATE accounts SET balance = 1000000000 WHERE id = 'available:' || $1`, [id])
        all.push({ id, key })
      }
      return all
    })
  },

  /** Tasks that can be submitted, of one buyer for one agent after the other. */
  async drafts(count: number): Promise<Draft[]> {
    const { db, world } = house.market
    const drafts: Draft[] = []
    for (let from = 0; from < count; from += CHUNK) {
      await db.write(async tx => {
        const inserted: Promise<unknown>[] = []
        for (let n = from; n < Math.min(from + CHUNK, count); n++) {
          const buyer = buyers[n % buyers.length]!
          const id = world.id('task')
          drafts.push({ id, key: buyer.key })
          const at = (n * 7) % agentIds.length
          const builderId = builders[at % builders.length]!.user.id
          const parties = { agentId: agentIds[at]!, buyerId: buyer.id, builderId }
          inserted.push(insertDraft(tx, { id, ...parties, createdAt: world.now() }, n))
        }
        await Promise.all(inserted)
      })
    }
    return drafts
  },

  /** What this instance has sent so far. */
  sent: () => sent,

  /** Looks for what is due now. */
  wake: () => house.runDue(),

  async settled() {
    const next = 'SELECT id FROM deliveries WHERE ended_at IS NULL LIMIT 1'
    while (await house.market.db.read(q => q.get(next))) await new Promise(resolve => setTimeout(resolve, 50))
  },

  close: () => house.close(0),
})
