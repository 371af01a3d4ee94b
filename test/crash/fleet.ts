/** Several servers of the built program on one Postgres and one object store, behind a balancer; each can be killed. */
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFrontAuthority } from '../../src/sim/agents/https-front.ts'
import type { Db } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { start } from '../cli/program.ts'
import { freshDatabase } from '../support/databases.ts'
import { startObjectStore } from '../support/object-store.ts'
import { until } from '../support/patience.ts'
import { type Agent, startAgent } from './agent.ts'
import { startBalancer } from './balancer.ts'
import { Caller } from './caller.ts'
import type { Ready } from './scenario.ts'
import { readErrors, showingFaults } from './server-log.ts'
import type { Asked } from './silences.ts'

export interface Fleet {
  /** The balancer's. */
  url: string
  /** One of each server, by its index. */
  urls: readonly string[]
  /** Every request that the balancer has passed on. */
  asked: Asked[]
  /** Resolves when the servers have ended all that the balancer has passed on, also what it has given up. */
  settled(): Promise<void>
  db: Db
  /** Makes a builder with a key; the administrator is there. */
  furnish(): Promise<Ready>
  /** SIGKILL, then another in its place; resolves when that one answers. */
  kill(index: number): Promise<void>
  /** SIGTERM once another is ready in its place; resolves when it has ended. Throws unless that is with 0. */
  replace(index: number): Promise<void>
  /** SIGSTOP and SIGCONT, say. */
  signal(index: number, signal: NodeJS.Signals): void
  /** SIGTERM to all. Throws unless each ends with 0. */
  end(): Promise<void>
  /** What the servers, the dead ones too, have logged as errors. */
  errors: readonly string[]
  /** SIGKILL to whatever still runs; nothing of the fleet stays open. To be called however the test went. */
  close(): Promise<void>
}

const SIZE = 3
const ADMIN = { email: 'root@example.com', password: 'root of a test' }

export interface FleetOptions {
  rateLimits?: 'off' | 'strict'
  /** The address of the database as the server is given it that is started as the n-th, from 0; null: as this test has it. */
  route?: (url: string, server: number | null) => string | Promise<string>
  env?: Record<string, string>
}

/** `ca`: whom the servers trust besides Node's own. */
async function openFleet(
  folder: string,
  ca: string,
  { rateLimits = 'off', route = url => url, env: more }: FleetOptions,
): Promise<Fleet> {
  const { url: dbUrl, drop } = await freshDatabase()
  const store = await startObjectStore()
  const balancer = await startBalancer()
  const trusted = join(folder, 'ca.pem')
  writeFileSync(trusted, ca)
  const env = {
    ...store.env,
    ...more,
    MARKETPLACE_SECRET_KEY: randomBytes(32).toString('base64'),
    MARKETPLACE_ADMIN_EMAIL: ADMIN.email,
    MARKETPLACE_ADMIN_PASSWORD: ADMIN.password,
    // One round of tests: the lease of a run is as short as it can be.
    MARKETPLACE_HEARTBEAT_BATCH: '5',
    NODE_EXTRA_CA_CERTS: trusted,
    NODE_OPTIONS: `--import ${new URL('../../test/crash/internet.js', import.meta.url)}`,
  }
  const places = { '--files': store.address, '--base-url': balancer.url, '--port': '0' }
  const ways = { '--payments': 'sandbox', '--rate-limits': rateLimits, '--db-pool': '4' }
  const flags = ['--json', ...Object.entries({ ...places, ...ways }).flat()]
  const errors: string[] = []
  const children = new Set<ChildProcess>()
  let count = 0
  const begin = async () => {
    const number = count++
    const { child, ended, firstLine } = start(['serve', ...flags, '--db', await route(dbUrl, number)], folder, env)
    children.add(child)
    child.once('close', () => children.delete(child))
    readErrors(child, `server ${number + 1}`, errors)
    const line = await firstLine.catch(async () => {
      const { out, err } = await ended
      throw new Error(`A server did not start: ${out}${err}`)
    })
    return { child, ended, url: JSON.parse(line).url as string }
  }
  let db: Db | undefined
  const close = async () => {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all([...children].map(child => once(child, 'close')))
    await Promise.all([db?.close(), balancer.close(), store.close()])
    // A server that is gone has taken it along.
    await drop().catch(() => {})
  }
  try {
    const servers = await Promise.all(Array.from({ length: SIZE }, begin))
    balancer.targets.push(...servers.map(({ url }) => url))
    db = await openPostgres({ url: await route(dbUrl, null), poolSize: 2 })
    return {
      url: balancer.url,
      urls: balancer.targets,
      asked: balancer.asked,
      settled: () => until('the end of all requests', () => balancer.inHand() === 0),
      db,
      furnish: () => furnish(balancer.url),
      async kill(index) {
        servers[index]!.child.kill('SIGKILL')
        await servers[index]!.ended
        servers[index] = await begin()
        balancer.targets[index] = servers[index].url
      },
      async replace(index) {
        const old = servers[index]!
        servers[index] = await begin()
        balancer.targets.push(servers[index].url)
        old.child.kill('SIGTERM')
        const { code, err } = await old.ended
        if (code !== 0) throw new Error(`A server ended with ${code}: ${err}`)
        balancer.targets.splice(balancer.targets.indexOf(old.url), 1)
      },
      signal: (index, signal) => void servers[index]!.child.kill(signal),
      async end() {
        for (const { child } of servers) child.kill('SIGTERM')
        for (const { code, err } of await Promise.all(servers.map(({ ended }) => ended)))
          if (code !== 0) throw new Error(`A server ended with ${code}: ${err}`)
      },
      errors,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Runs a test on a fleet and an agent of its own. If it throws, the servers' errors are shown; nothing stays open. */
export async function withFleet<Result>(
  folder: string,
  options: FleetOptions,
  test: (fleet: Fleet, agent: Agent) => Promise<Result>,
): Promise<Result> {
  const authority = createFrontAuthority()
  const agent = await startAgent(authority)
  agent.url = agent.url.replace('localhost', 'agent.example')
  try {
    const fleet = await openFleet(folder, await authority.ca, options)
    try {
      return await showingFaults(fleet.errors, () => test(fleet, agent))
    } finally {
      await fleet.close()
    }
  } finally {
    await agent.close()
  }
}

async function furnish(url: string): Promise<Ready> {
  const builder = new Caller(url)
  const account = { email: 'builder@example.com', password: 'builder of a test', name: 'A Builder', isBuilder: true }
  await builder.call('POST', '/api/auth/register', account)
  const { key } = await builder.call('POST', '/api/my/api-keys', { name: 'test' })
  builder.close()
  const none = { email: '', password: '', apiKey: '' }
  return { accounts: { builder: { ...account, apiKey: key }, admin: { ...ADMIN, apiKey: '' }, buyer: none } }
}
