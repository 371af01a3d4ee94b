/** Our side on Postgres: one instance of the built marketplace, in a process of its own. */
import type { Marketplace } from '../../src/open/open.ts'
import type { BucketOptions } from '../../src/world/bucket.ts'
import { built } from './built.ts'
import { furnishForMany, type MakeDrafts } from './many-buyers.ts'
import { answer } from './worker.ts'

interface InstanceOptions {
  url: string
  bucket: BucketOptions
  ca: string
}

const { openMarketplace } = await built<typeof import('../../src/open/open.ts')>('open/open')
const { createWorld } = await built<typeof import('../../src/world/real.ts')>('world/real')

let marketplace: Marketplace
let makeDrafts: MakeDrafts
let sent = 0

answer({
  /** The whole, as it is deployed: server, dispatcher, clock. A simulator would record each exchange besides. */
  async open({ url, bucket, ca }: InstanceOptions) {
    marketplace = await openMarketplace({
      mode: 'serve',
      payments: 'sandbox',
      rateLimits: 'off',
      world: createWorld({ requireHttps: true, allowLoopback: true, ca }),
      file: null,
      // One for each client: a submit holds its own for the whole transaction. Reads by id take two, however many there are.
      postgres: { url, poolSize: 32 },
      bucket,
      secretKey: Buffer.alloc(32, 7).toString('base64'),
      log: entry => {
        if (entry.type === 'webhook') sent++
      },
      onFatal: error => {
        throw error
      },
    })
    return Number(new URL(marketplace.url).port)
  },

  /** Accounts with money and a key, and agents that take webhooks. */
  async furnish(sinkPort: number) {
    makeDrafts = await furnishForMany(marketplace.market, sinkPort)
  },

  /** Tasks that can be submitted, of one buyer for one agent after the other. */
  drafts: ({ count, agents }: { count: number; agents?: number }) => makeDrafts(count, agents),

  /** What this instance has sent so far. */
  sent: () => sent,

  /** Looks for what is due now. */
  wake: () => marketplace.runDue(),

  async settled() {
    const next = 'SELECT id FROM deliveries WHERE ended_at IS NULL LIMIT 1'
    while (await marketplace.market.db.read(q => q.get(next))) await new Promise(resolve => setTimeout(resolve, 50))
  },

  close: () => marketplace.close(0),
})
