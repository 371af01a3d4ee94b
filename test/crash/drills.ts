/** What happens to instances in the wild, one drill each: three servers under mixed load, and everything that must hold afterwards. */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { startPair, startStoppable } from '../support/postgres-server.ts'
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import type { Fleet, FleetOptions } from './fleet.ts'
import { fleetRounds } from './fleet-rounds.ts'
import { enough, type Passed } from './kill.ts'
import type { Load } from './load.ts'
import type { Scenario } from './scenario.ts'

/** Longer than a transaction may wait for its client. */
const STILL_MS = 6_000

export interface DrillReport extends Passed {
  /** From the first answer of 500 or 503 to the last one. */
  refusedMs: number
  refusals: number
}

type Trouble = (fleet: Fleet, scenario: Scenario, load: Load) => Promise<unknown>

async function drill(folder: string, trouble: Trouble, fleet: FleetOptions = {}): Promise<DrillReport> {
  let refusedAt: readonly number[] = []
  const passed = await fleetRounds(folder, {
    rounds: 1,
    seed: 1,
    fleet,
    async trouble(fleet, scenario, load) {
      await enough(scenario, load)
      scenario.away = true
      refusedAt = scenario.refusedAt
      await trouble(fleet, scenario, load)
    },
  })
  const refusedMs = Math.round((refusedAt.at(-1) ?? 0) - (refusedAt[0] ?? 0))
  return { ...passed, refusedMs, refusals: refusedAt.length }
}

/** The ways of some servers to Postgres can fall silent. */
function silenced(
  folder: string,
  whose: readonly number[],
  trouble: (proxies: readonly SilentProxy[], scenario: Scenario, load: Load) => Promise<unknown>,
): Promise<DrillReport> {
  const proxies: SilentProxy[] = []
  const route = async (url: string, server: number | null) => {
    if (server === null || !whose.includes(server)) return url
    const proxy = await startSilentProxy(url)
    proxies.push(proxy)
    return proxy.url
  }
  return drill(folder, (_fleet, scenario, load) => trouble(proxies, scenario, load), { route }).finally(() =>
    Promise.all(proxies.map(proxy => proxy.close())),
  )
}

/** On a server of its own. */
async function onServer<Report>(
  start: () => Promise<{ url: string; stop(): Promise<void> }>,
  proof: (url: string) => Promise<Report>,
): Promise<Report> {
  const before = process.env.TEST_DATABASE_URL
  const server = await start()
  process.env.TEST_DATABASE_URL = server.url
  try {
    return await proof(server.url)
  } finally {
    process.env.TEST_DATABASE_URL = before
    await server.stop()
  }
}

/** Takes each connection that the server has to spare, until it is told to give them back. */
function hog(url: string): { giveBack(): Promise<void> } {
  const taken = new Set<pg.Client>()
  let isOver = false
  const take = async () => {
    while (!isOver) {
      const client = new pg.Client(url).on('error', () => {})
      await client.connect().then(
        () => taken.add(client),
        () => wait(10),
      )
    }
  }
  const taking = take()
  return {
    async giveBack() {
      isOver = true
      await taking
      await Promise.all([...taken].map(client => client.end()))
    },
  }
}

export const drills = {
  /** One of three stands still. */
  stopped: (folder: string) =>
    drill(folder, async (fleet, scenario, load) => {
      fleet.signal(0, 'SIGSTOP')
      await wait(STILL_MS)
      await enough(scenario, load)
      fleet.signal(0, 'SIGCONT')
    }),

  /** The connections of one of three to Postgres say nothing any more. */
  cut: (folder: string) =>
    silenced(folder, [0], async (proxies, scenario, load) => {
      for (const proxy of proxies) proxy.fallSilent()
      await wait(STILL_MS)
      await enough(scenario, load)
      for (const proxy of proxies) proxy.speak()
    }),

  /** Those of all three: nobody is well, and everybody goes on once the network does. */
  severed: (folder: string) =>
    silenced(folder, [0, 1, 2], async proxies => {
      for (const proxy of proxies) proxy.fallSilent()
      await wait(STILL_MS)
      for (const proxy of proxies) proxy.speak()
    }),

  /** The server has no connection to spare. */
  limit: (folder: string) =>
    onServer(
      () => startStoppable({ max_connections: 24 }),
      url =>
        drill(folder, async (_fleet, scenario, load) => {
          const { giveBack } = hog(url)
          await wait(STILL_MS)
          await enough(scenario, load)
          await giveBack()
        }),
    ),

  /** The primary is lost, and its standby promoted. */
  async promotion(folder: string) {
    const pair = await startPair()
    const route = (url: string) => {
      const both = new URL(pair.url.replace(/,[^/]*/, ''))
      return pair.url.replace(both.pathname, new URL(url).pathname)
    }
    const { url } = pair.primary
    const start = async () => ({ url, stop: () => pair.stop() })
    return onServer(start, () => drill(folder, () => pair.failOver(), { route }))
  },

  /** A pooler in transaction mode is between, and one of three is killed. */
  async pooler(folder: string) {
    const poolers: Awaited<ReturnType<typeof startTransactionPooler>>[] = []
    const route = async (url: string, server: number | null) => {
      if (server === null) return url
      poolers.push(await startTransactionPooler(url, { size: 4 }))
      return poolers.at(-1)!.url
    }
    return drill(folder, fleet => fleet.kill(0), { route }).finally(() => Promise.all(poolers.map(one => one.close())))
  },

  /** One after the other is replaced. */
  rolling: (folder: string) =>
    drill(
      folder,
      async (fleet, scenario, load) => {
        for (const index of fleet.urls.keys()) {
          await fleet.replace(index)
          await enough(scenario, load)
        }
      },
      { env: { MARKETPLACE_LAME_DUCK: '2' } },
    ),
} satisfies Record<string, (folder: string) => Promise<DrillReport>>
