/** Several servers of the built program on one Postgres and one object store, behind a balancer; each can be killed. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Db } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { type Ended, start } from '../cli/program.ts'
import { freshDatabase } from '../support/databases.ts'
import { startObjectStore } from '../support/object-store.ts'
import { startBalancer } from './balancer.ts'
import { Party } from './party.ts'
import type { Ready } from './town.ts'

export interface Fleet {
  /** The balancer's. */
  url: string
  /** The servers' own, by place. */
  urls: readonly string[]
  db: Db
  /** Makes a builder with a key; the administrator is there. */
  furnish(): Promise<Ready>
  /** SIGKILL, then another in its place; resolves when that one answers. */
  kill(place: number): Promise<void>
  /** SIGTERM to all. Throws unless each ends with 0. */
  end(): Promise<void>
}

const SIZE = 3
const ADMIN = { email: 'root@example.com', password: 'root of a test' }

/** `ca`: whom the servers trust besides Node's own. More `flags` go before the usual ones. */
export async function openFleet(folder: string, ca: string, { rateLimits = 'off' } = {}): Promise<Fleet> {
  const { url: dbUrl, drop } = await freshDatabase()
  const store = await startObjectStore()
  const balancer = await startBalancer()
  const trusted = join(folder, 'ca.pem')
  writeFileSync(trusted, ca)
  const env = {
    ...store.env,
    MARKETPLACE_SECRET_KEY: randomBytes(32).toString('base64'),
    MARKETPLACE_ADMIN_EMAIL: ADMIN.email,
    MARKETPLACE_ADMIN_PASSWORD: ADMIN.password,
    // One round of tests: the lease of a run is as short as it can be.
    MARKETPLACE_HEARTBEAT_BATCH: '5',
    NODE_EXTRA_CA_CERTS: trusted,
    NODE_OPTIONS: `--import ${new URL('../../test/crash/internet.js', import.meta.url)}`,
  }
  const places = { '--db': dbUrl, '--files': store.address, '--base-url': balancer.url, '--port': '0' }
  const ways = { '--payments': 'sandbox', '--rate-limits': rateLimits, '--db-pool': '4' }
  const flags = ['--json', ...Object.entries({ ...places, ...ways }).flat()]
  const begin = async () => {
    const { child, ended, firstLine } = start(['serve', ...flags], folder, env)
    const line = await firstLine.catch(async () => {
      throw new Error(`A server did not start: ${(await ended).err}`)
    })
    return { child, ended, url: JSON.parse(line).url as string }
  }
  const servers = await Promise.all(Array.from({ length: SIZE }, begin))
  balancer.targets.push(...servers.map(({ url }) => url))
  const db = await openPostgres({ url: dbUrl, poolSize: 2 })
  return {
    url: balancer.url,
    urls: balancer.targets,
    db,
    furnish: () => furnish(balancer.url),
    async kill(place) {
      servers[place]!.child.kill('SIGKILL')
      await servers[place]!.ended
      servers[place] = await begin()
      balancer.targets[place] = servers[place].url
    },
    async end() {
      for (const { child } of servers) child.kill('SIGTERM')
      const ends = await Promise.all(servers.map(({ ended }) => ended))
      await db.close()
      await balancer.close()
      await Promise.all([drop(), store.close()])
      for (const { code, err } of ends as Ended[])
        if (code !== 0) throw new Error(`A server ended with ${code}: ${err}`)
    },
  }
}

async function furnish(url: string): Promise<Ready> {
  const builder = new Party(url)
  const account = { email: 'builder@example.com', password: 'builder of a test', name: 'A Builder', isBuilder: true }
  await builder.call('POST', '/api/auth/register', account)
  const { key } = await builder.call('POST', '/api/my/api-keys', { name: 'test' })
  builder.close()
  const none = { email: '', password: '', apiKey: '' }
  return { accounts: { builder: { ...account, apiKey: key }, admin: { ...ADMIN, apiKey: '' }, buyer: none } }
}
