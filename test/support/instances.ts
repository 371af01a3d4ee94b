/** Several marketplaces in this process on one Postgres, as instances behind a balancer are. */
import { randomBytes } from 'node:crypto'
import { type Marketplace, openMarketplace } from '../../src/open/open.ts'
import type { OpenOptions } from '../../src/open/options.ts'
import { createVirtualWorld, type VirtualWorld } from '../../src/world/virtual.ts'
import type { Egress } from '../../src/world/world.ts'
import { freshDatabase } from './databases.ts'
import { openTestMarketplace, type TestMarketplace } from './marketplace.ts'
import { startObjectStore } from './object-store.ts'

interface Instance extends Marketplace {
  world: VirtualWorld
}

export interface Instances {
  /** The first, with everything that a test needs. */
  marketplace: TestMarketplace
  /**
   * Opens one more; what it sends goes to the agents of the first unless it has an egress of its own. Ids come in order
   * over all instances, as they would if time did not stand still; `own` ones tell the instance's time.
   */
  join(options?: { egress?: Egress; ids?: 'own' }): Promise<Instance>
  /** Lets domain time pass at every instance; nothing is done about it yet. */
  advance(ms: number): void
  /** Every instance does all that is due, at the same moment. */
  runDue(): Promise<void>
  close(): Promise<void>
}

export async function openInstances(options: Partial<OpenOptions> = {}): Promise<Instances> {
  const { url, drop } = await freshDatabase()
  const store = await startObjectStore()
  const shared = {
    admin: { email: 'admin@example.com', password: 'the admin of a test' },
    bucket: store.bucket,
    ...options,
    postgres: { url, poolSize: 5 },
    secretKey: randomBytes(32).toString('base64'),
  }
  const marketplace = await openTestMarketplace(shared)
  const all: Instance[] = [marketplace]
  let joining = 0
  return {
    marketplace,
    async join({ egress = marketplace.world.egress, ids } = {}) {
      const world = createVirtualWorld({ seed: `instance ${++joining}`, egress })
      if (ids !== 'own') world.id = marketplace.world.id
      world.advance(marketplace.world.now())
      const joined = { ...(await openMarketplace({ mode: 'dev', file: null, ...shared, world })), world }
      all.push(joined)
      return joined
    },
    advance(ms) {
      for (const { world } of all) world.advance(world.now() + ms)
    },
    async runDue() {
      await Promise.all(all.map(({ runDue }) => runDue()))
    },
    async close() {
      await Promise.all(all.map(one => one.close(0)))
      await Promise.all([drop(), store.close()])
    },
  }
}
