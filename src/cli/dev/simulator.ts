/** The simulator that `marketplace dev` runs: the marketplace, its accounts, and its own agent behind the HTTPS front. */
import type { Settings } from '../../config.ts'
import type { DebugSinks } from '../../debug.ts'
import type { StampedEntry } from '../../market/log.ts'
import type { Market } from '../../market/market.ts'
import { verbs } from '../../market/verbs.ts'
import { type Marketplace, openMarketplace } from '../../open.ts'
import { createFrontAuthority, type Front, type FrontAuthority, startFront } from '../../sim/https-front.ts'
import { SAMPLE, type SampleAgent, startSampleAgent } from '../../sim/sample-agent.ts'
import { actorOf, type Credentials, seed } from '../../sim/seed.ts'
import { endAfterDiskFailure } from '../shutdown.ts'
import { keepCredentials, makeFolder, type Place, readCredentials } from './place.ts'

export interface SimulatorOptions {
  settings: Settings
  place: Place
  seed: number | undefined
  log: (entry: StampedEntry) => void
  debug: DebugSinks
}

export interface Simulator {
  readonly marketplace: Marketplace
  readonly credentials: Credentials
  /** What may go on once the start screen is shown. */
  begin(): void
  close(): Promise<void>
}

/** Starts everything, or nothing: if a step fails, those before it are undone. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { place } = options
  makeFolder(place)
  let seeded = (_names: readonly string[]) => {}
  const authority = createFrontAuthority(new Promise(resolve => (seeded = resolve)))
  const front = await openFront(authority, place)
  const closers: (() => Promise<unknown>)[] = [() => front.close()]
  let closing = false
  const close = async () => {
    closing = true
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    let market: Market | undefined
    const warn = (message: string) => market?.log({ type: 'warning', message })
    const agent = await startSampleAgent(front, error =>
      warn(`The sample agent's callback was refused: ${error.message}`),
    )
    closers.push(() => agent.close())
    const marketplace = await open(options, authority)
    market = marketplace.market
    closers.push(() => marketplace.close())
    const credentials = await seedMarketplace(marketplace, place, agent, front)
    const test = () => {
      seeded([SAMPLE])
      return testFirst(marketplace, credentials)
    }
    // In an old database the agent's last test may be too old, so this waits for a new one. In a new database it can be
    // hired at once.
    if (place.file !== null) await test()
    const begin = () => {
      if (place.file !== null) return
      test().catch(error => closing || warn(`The sample agent is untested: ${error.message}`))
    }
    return { marketplace, credentials, begin, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Outside of the ports that systems give to outgoing connections, so that nobody else has it by chance. */
const FRONT_PORT = 4443

/** Listens on the port of the start before, so that webhook URLs stay the same; on any free one if somebody has that. */
async function openFront(authority: FrontAuthority, place: Place): Promise<Front> {
  const port = place.folder === null ? 0 : (readCredentials(place)?.frontPort ?? FRONT_PORT)
  return startFront({ authority, port }).catch(error => {
    if (error.code !== 'EADDRINUSE') throw error
    return startFront({ authority })
  })
}

const open = ({ settings, place, seed, log, debug }: SimulatorOptions, { ca }: FrontAuthority) =>
  openMarketplace({
    ...settings,
    mode: 'dev',
    file: place.file,
    seed,
    ca,
    log,
    debug,
    holder: `marketplace dev on port ${settings.port}`,
    onFatal: endAfterDiskFailure,
  })

/** Creates or updates the accounts and agents, and gives the running agent its secret. */
async function seedMarketplace(
  { market, url }: Marketplace,
  place: Place,
  agent: SampleAgent,
  { port: frontPort }: Front,
): Promise<Credentials> {
  const credentials = await seed(market, readCredentials(place), agent.url)
  keepCredentials(place, { url, instance: market.config.instanceId, frontPort, ...credentials })
  agent.use(credentials.agents[0]!.webhookSecret)
  return credentials
}

/** Runs the connection test of the first agent, at each start. Source: A-6. */
async function testFirst({ market }: Marketplace, { accounts, agents }: Credentials): Promise<void> {
  const actor = await actorOf(market, accounts.builder.id)
  const params = { id: agents[0]!.id }
  const report = await verbs.testConnection({ ...market, actor }, { params, query: {}, body: undefined })
  const failed = report.checks.find(({ status }) => status === 'failed')
  if (failed) market.log({ type: 'warning', message: `The sample agent failed its test: ${failed.message}` })
}
