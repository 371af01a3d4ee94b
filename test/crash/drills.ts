/** What happens to instances in the wild, one drill each: three servers under mixed load, and everything that must hold afterwards. */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { startPair, startStoppable } from '../support/postgres-server.ts'
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import type { Fleet, FleetOptions } from './fleet.ts'
import { fleetRounds } from './fleet-rounds.ts'
import { freezeAmidWrite, toldSince } from './frozen.ts'
import { enough, type Passed } from './kill.ts'
import type { Load } from './load.ts'
import type { Scenario } from './scenario.ts'
import { longestSilence, slowestOf } from './silences.ts'

/** Longer than a transaction may wait for its client. */
const STILL_MS = 6_000

/** Instances that are well may hang or refuse for so long, each by itself, and together once a server takes writes again. */
const MOST_MS = 3_000
/** Until others have sent what one had in hand that stands still: that it does is known after 2.5 s, and looked for twice a second. */
const TAKEN_OVER_MS = 5_000

export interface DrillReport extends Passed {
  /** The longest time in which an instance that was well answered nothing. */
  silentMs: number
  /** The longest that one request took to such an instance. */
  slowestMs: number
  refusals: number
  /** Nobody could be well for so long. */
  awayMs: number
  /** Until all webhooks of one that stands still were sent by others. */
  takenOverMs?: number | undefined
}

type Told = Partial<Pick<DrillReport, 'awayMs' | 'takenOverMs'>>
type Trouble = (fleet: Fleet, scenario: Scenario, load: Load) => Promise<Told | undefined>

/** `sick`: those of which nothing is asked. Throws if something is lost, doubled or out of order. */
async function drill(
  folder: string,
  trouble: Trouble,
  { sick = [], ...fleet }: FleetOptions & { sick?: readonly number[] } = {},
): Promise<DrillReport> {
  let told: Told = {}
  let measure = () => ({ silentMs: 0, slowestMs: 0, refusals: 0 })
  const passed = await fleetRounds(folder, {
    rounds: 1,
    seed: 1,
    fleet,
    async trouble(fleet, scenario, load) {
      await enough(scenario, load)
      scenario.away = true
      const since = performance.now()
      const out = sick.map(index => fleet.urls[index]!)
      measure = () => {
        const asked = fleet.asked.filter(({ target }) => !out.includes(target))
        const [silentMs, slowestMs] = [longestSilence(asked, since), slowestOf(asked, since)].map(Math.round)
        return { silentMs: silentMs!, slowestMs: slowestMs!, refusals: scenario.refusals }
      }
      told = (await trouble(fleet, scenario, load)) ?? {}
    },
  })
  return { ...passed, awayMs: 0, ...told, ...measure() }
}

/** Throws unless instances that are well went on in time. `slower`: how much longer it may take beside other work. */
export function assertInTime({ silentMs, slowestMs, awayMs, takenOverMs = 0 }: DrillReport, slower = 1): void {
  const most = slower * MOST_MS + awayMs
  assert.ok(silentMs <= most, `an instance that is well answered nothing for ${silentMs} ms`)
  assert.ok(slowestMs <= most, `an instance that is well took ${slowestMs} ms for a request`)
  assert.ok(takenOverMs <= slower * TAKEN_OVER_MS, `webhooks waited ${takenOverMs} ms for one that stands still`)
}

/** The ways of some servers to Postgres can fall silent. */
function silenced(
  folder: string,
  whose: readonly number[],
  trouble: (proxies: readonly SilentProxy[], scenario: Scenario, load: Load) => Promise<Told | undefined>,
): Promise<DrillReport> {
  const proxies: SilentProxy[] = []
  const route = async (url: string, server: number | null) => {
    if (server === null || !whose.includes(server)) return url
    const proxy = await startSilentProxy(url)
    proxies.push(proxy)
    return proxy.url
  }
  // Where all are silent, all are to go on.
  const sick = whose.length < 3 ? whose : []
  return drill(folder, (_fleet, scenario, load) => trouble(proxies, scenario, load), { route, sick }).finally(() =>
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
  /** One of three stands still, amid a transaction. */
  stopped: (folder: string) =>
    drill(
      folder,
      async (fleet, scenario, load) => {
        const { at, ended } = await freezeAmidWrite(fleet, scenario)
        const takenOverMs = await toldSince(fleet, at)
        await wait(STILL_MS)
        await enough(scenario, load)
        fleet.signal(0, 'SIGCONT')
        await ended
        return { takenOverMs }
      },
      { sick: [0] },
    ),

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
      return { awayMs: STILL_MS }
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
    const failOver = async () => {
      const from = performance.now()
      await pair.failOver()
      return { awayMs: Math.round(performance.now() - from) }
    }
    return onServer(start, () => drill(folder, failOver, { route }))
  },

  /** A pooler in transaction mode is between, and one of three is killed. */
  async pooler(folder: string) {
    const poolers: Awaited<ReturnType<typeof startTransactionPooler>>[] = []
    const route = async (url: string, server: number | null) => {
      if (server === null) return url
      poolers.push(await startTransactionPooler(url, { size: 4 }))
      return poolers.at(-1)!.url
    }
    return drill(folder, fleet => fleet.kill(0).then(() => undefined), { route, sick: [0] }).finally(() =>
      Promise.all(poolers.map(one => one.close())),
    )
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
