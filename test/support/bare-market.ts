/** A market without its server: a database in memory, a virtual world, and all that it logs. */

import { defaultKeeping, heartbeat, retryScheduleMs } from '../../src/api/limits.ts'
import { createUser } from '../../src/market/accounts/accounts.ts'
import type { LogEntry } from '../../src/market/log.ts'
import { createMarket, type Market } from '../../src/market/market.ts'
import type { Config } from '../../src/settings/config.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import type { UserRow } from '../../src/store/tables/accounts/users.ts'
import { createVirtualWorld, type VirtualWorld } from '../../src/world/virtual.ts'
import { noFiles } from './no-files.ts'

export interface BareMarket {
  market: Market
  world: VirtualWorld
  logged: LogEntry[]
  join(name: string): Promise<UserRow>
  /** Resolves when all that was begun before it has been written. */
  settled(): Promise<void>
  close(): Promise<void>
}

export const bareConfig: Config = {
  mode: 'serve',
  host: '127.0.0.1',
  port: 0,
  baseUrl: 'http://market.example',
  secretKey: Buffer.alloc(32, 7),
  payments: 'sandbox',
  currency: 'USD',
  rateLimits: 'off',
  heartbeatBatch: heartbeat.batch,
  retryScheduleMs,
  keeping: defaultKeeping,
  adminTotp: 'optional',
  console: 'on',
  brand: { name: null, colors: null, logo: null },
  trustProxy: 0,
  version: '9.9.9',
  instanceId: 'this one',
}

export async function openBareMarket(config: Partial<Config> = {}): Promise<BareMarket> {
  const world = createVirtualWorld()
  const onFatal = (error: Error) => {
    throw error
  }
  const db = await openSqlite({ file: null, onFatal, warn: () => {} })
  await migrate(db, migrations, world.now)
  const logged: LogEntry[] = []
  // Also after a test has put a write of its own in place.
  const write = db.write.bind(db)
  const market = createMarket({
    db,
    files: noFiles,
    world,
    config: { ...bareConfig, ...config },
    log: line => void logged.push(line),
  })
  return {
    market,
    world,
    logged,
    join: name => {
      const made = { email: `${name}@example.com`, name, passwordHash: '', isBuilder: true, isAdmin: false }
      return db.write(tx => createUser(tx, world, made))
    },
    async settled() {
      await new Promise(resolve => setImmediate(resolve))
      await write(async () => {})
    },
    close: () => db.close(),
  }
}
