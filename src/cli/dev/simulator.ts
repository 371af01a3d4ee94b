/** The simulator that `marketplace dev` runs: the marketplace, its accounts, and local agents behind the HTTPS front. */

import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Action, answer, CallbackError, type CallbackFields } from '../../client/callbacks.ts'
import type { WebhookEvent } from '../../client/webhook-events.ts'
/** How fast time goes by, and how soon a webhook is tried again. */
import type { StampedEntry } from '../../market/log.ts'
import type { Market } from '../../market/market.ts'
import { JudgeSeat } from '../../market/simulator/conformance.ts'
import { Surroundings } from '../../market/simulator/standing.ts'
import { type Marketplace, openMarketplace } from '../../open/open.ts'
import { type Settings, UsageError } from '../../settings/config.ts'
import type { DebugSinks } from '../../shared/debug.ts'
import { secretOf, visibilityOf } from '../../sim/agents/agents.ts'
import { freePort } from '../../sim/agents/free-port.ts'
import { createFrontAuthority, type Front, type FrontAuthority, startFront } from '../../sim/agents/https-front.ts'
import { type SampleAgent, startSampleAgent } from '../../sim/agents/sample-agent.ts'
import type { Persona } from '../../sim/buyers/persona.ts'
import { BUYER, type Credentials } from '../../sim/seed.ts'
import { openDatabase } from '../../store/open.ts'
import type { PostgresOptions } from '../../store/postgres/database.ts'
import { countUsers, userByEmail } from '../../store/tables/accounts/users.ts'
import { endAfterDiskFailure } from '../output/disk-faults.ts'
import { ConformanceRuns } from './conformance-runs.ts'
import { Forwarding, type ForwardingOptions } from './forwarding.ts'
import { type Furnished, furnish, testSample } from './furnish.ts'
import type { GivenAgent } from './given-agents.ts'
import { Buyers } from './personas.ts'
import type { AgentRun, RunSetting } from './run-agent.ts'
import { type Kept, makeFolder, readCredentials, type StateFolder } from './state-folder.ts'
export type Pace = Pick<Parameters<typeof openMarketplace>[0], 'clockScale' | 'retries'>

export interface SimulatorOptions extends ForwardingOptions {
  settings: Settings
  state: StateFolder
  seed: number | undefined
  agents: readonly GivenAgent[]
  /** The command that starts the agent. */
  run: string | undefined
  /** Folders whose changes start it anew. */
  watch: readonly string[]
  /** As a deployment unless given. */
  pace?: Pace
  /** Each is a buyer that hires every agent; none unless given. */
  personas?: readonly Persona[]
  log: (entry: StampedEntry) => void
  debug: DebugSinks
}

export interface Simulator {
  readonly marketplace: Marketplace
  readonly credentials: Credentials
  /** Ids of the agents that can be hired at the start. */
  readonly listed: ReadonlySet<string>
  /** Names, by id, of the agents that never answer. */
  readonly silent: ReadonlyMap<string, string>
  /** Names of the simulated buyers, by the ids of their accounts. */
  readonly buyers: ReadonlyMap<string, string>
  /** What may go on once the start screen is shown. */
  begin(): void
  close(): Promise<void>
}

/** Starts everything, or nothing: if a step fails, those before it are undone. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { state, personas = [] } = options
  makeFolder(state)
  const postgres = state.folder === null ? undefined : options.settings.db.postgres
  if (postgres) await refuseForeign(postgres, state.db)
  const kept = readCredentials(state)
  let named = (_names: readonly string[]) => {}
  const authority = createFrontAuthority(new Promise(resolve => (named = resolve)))
  const front = await openFront(authority, state, kept)
  const closers: (() => unknown)[] = [() => front.close()]
  let tellUnmet = () => {}
  const ending = new AbortController()
  const close = async () => {
    tellUnmet()
    ending.abort()
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    let market: Market | undefined
    const sample = await startSampleAgent(front, error =>
      market?.log({ type: 'warning', message: `The sample agent's callback was refused: ${error.message}` }),
    )
    closers.push(() => sample.close())
    let hear = (_entry: StampedEntry) => {}
    const heard = (entry: StampedEntry) => {
      // A test that the end cuts off says nothing of an agent.
      if (entry.type === 'check' && ending.signal.aborted) return
      options.log(entry)
      hear(entry)
    }
    const marketplace = await open({ ...options, postgres, log: heard }, authority)
    market = marketplace.market
    tellUnmet = () => sayUnmet(marketplace.market)
    closers.push(() => marketplace.close())
    const furnished = await furnish(marketplace, { ...options, kept, front, sample })
    const forwarding = new Forwarding(marketplace.market, furnished.staff, furnished.forwarded, options)
    closers.push(() => forwarding.close())
    const run = await startedBy(options, { marketplace, forwarding, ...furnished })
    if (run) closers.push(() => run.close())
    const runs = new ConformanceRuns(furnished.forwarded, options.run ?? null)
    Object.assign(market.memory.of(JudgeSeat), { judge: runs, builderId: furnished.staff.builderId })
    closers.push(() => runs.close())
    const buyers = new Buyers(first => simulatedBuyers(marketplace, furnished, { ...options, personas: first }))
    if (personas.length > 0) await buyers.add(personas)
    closers.push(() => buyers.close())
    tellSurroundings(marketplace.market, furnished, { ...options, forwarding, run, buyers })
    hear = entry => {
      forwarding.hear(entry)
      buyers.hear(entry)
    }
    followSecrets({ ...furnished, market: marketplace.market, sample, forwarding, run })
    const testLater = await sampleTest(marketplace, furnished, { named, front }, ending.signal)
    const begin = () => {
      testLater()
      run?.begin()
      // An agent is not to blame for a certificate that is still made.
      void front.ready.then(() => forwarding.begin())
      buyers.begin()
    }
    const { credentials, silent } = furnished
    const listed = await listedOf(marketplace, furnished)
    return { marketplace, credentials, listed, silent, buyers: buyers.names, begin, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Most start their agent themselves. */
async function startedBy({ run, watch }: SimulatorOptions, setting: RunSetting): Promise<AgentRun | null> {
  const [agent] = setting.forwarded
  if (run === undefined || !agent) return null
  const { AgentRun } = await import('./run-agent.ts')
  return new AgentRun(run, agent, watch, setting)
}

interface Around extends Pick<SimulatorOptions, 'state' | 'seed'> {
  forwarding: Forwarding
  run: AgentRun | null
  buyers: Buyers
}

/** What the pages of the simulator show of the program around it, and do with it. */
function tellSurroundings(
  market: Market,
  { credentials: { accounts } }: Furnished,
  { state, seed, forwarding, run, buyers }: Around,
): void {
  const NO_PROCESS = { command: null, pid: null, startedAt: null }
  Object.assign(market.memory.of(Surroundings), {
    people: { buyer: accounts.buyer.id, builder: accounts.builder.id, admin: accounts.admin.id },
    database: state.db,
    seed: seed === undefined ? null : String(seed),
    agents: () => forwarding.standing().map(one => ({ ...one, ...(run?.standing(one.agentId) ?? NO_PROCESS) })),
    callBack: callsBack(market),
    buyers,
  })
}

/** As agents do it: signed, over the wire, and once. */
const callsBack =
  (market: Market): Surroundings['callBack'] =>
  async ({ id, agentId }, callback) => {
    const secret = await secretOf(market, agentId)
    if (!secret) return null
    const callbackUrl = `${market.config.baseUrl}/api/agent/tasks/${id}/callback`
    const { action, ...fields } = callback
    try {
      const event = { data: { callbackUrl, taskId: id } } as WebhookEvent
      await answer(event, secret, action, fields as CallbackFields[Action], { attempts: 1 })
      return { status: action === 'message' ? 201 : 200, error: null }
    } catch (error) {
      const { message } = error as Error
      if (error instanceof CallbackError) return { status: error.status, error: message }
      return { status: null, error: `No response came: ${message}` }
    }
  }

async function listedOf({ market }: Marketplace, { staff, credentials }: Furnished): Promise<ReadonlySet<string>> {
  const listed = new Set<string>()
  for (const { id } of credentials.agents) if ((await visibilityOf(market, staff.builderId, id)).visible) listed.add(id)
  return listed
}

/** Whoever has prepared a fault wants to know that nothing was shown by it. */
function sayUnmet({ faults, log }: Market): void {
  for (const { name, on } of faults?.clear() ?? [])
    log({ type: 'warning', message: `The fault ${name}${on === null ? '' : ` on ${on}`} met nothing` })
}

/** Outside of the ports that systems give to outgoing connections, so that nobody else has it by chance. */
const FRONT_PORT = 4443

/** Listens on the port of the start before, so that webhook URLs stay the same; on one that stays free if somebody has that. */
async function openFront(authority: FrontAuthority, { folder }: StateFolder, kept: Kept | null): Promise<Front> {
  const port = folder === null ? 0 : (kept?.frontPort ?? FRONT_PORT)
  return startFront({ authority, port }).catch(async error => {
    if (error.code !== 'EADDRINUSE') throw error
    return startFront({ authority, port: await freePort() })
  })
}

interface OpenOptions extends SimulatorOptions {
  postgres: PostgresOptions | undefined
}

const open = ({ settings, state, postgres, seed, pace, log, debug }: OpenOptions, { ca }: FrontAuthority) =>
  openMarketplace({
    ...settings,
    ...pace,
    mode: 'dev',
    file: state.file,
    postgres,
    secretKey: settings.secretKey ?? (postgres && secretKeyIn(state)),
    seed,
    ca,
    log,
    debug,
    holder: `marketplace dev on port ${settings.port}`,
    onFatal: endAfterDiskFailure,
  })

/** Without a seed it is that of the database, so that they go on alike after a start. */
async function simulatedBuyers({ market }: Marketplace, { staff, credentials }: Furnished, options: SimulatorOptions) {
  const { personas = [], seed = market.config.instanceId } = options
  const { SimulatedBuyers } = await import('../../sim/buyers/simulated-buyers.ts')
  // The sample agent listens for those that buy too.
  const { webhookUrl, webhookSecret: secret } = credentials.agents[0]!
  return SimulatedBuyers.open({ market, adminId: staff.adminId, personas, seed, hearing: { webhookUrl, secret } })
}

/**
 * Tests the sample agent at each start. Waits for that only if it can't be hired before: its last test may be too old.
 * Otherwise returns the test for later, as even the certificate takes long. Source: A-158.
 */
async function sampleTest(
  { market }: Marketplace,
  furnished: Furnished,
  { named, front }: { named: (names: string[]) => void; front: Front },
  signal: AbortSignal,
) {
  const { staff, credentials } = furnished
  const { id } = credentials.agents[0]!
  const test = async () => {
    named(credentials.agents.map(({ slug }) => slug))
    await front.ready
    return testSample(market, staff, id, signal)
  }
  const { visible } = await visibilityOf(market, staff.builderId, id)
  if (!visible) await test()
  return () => {
    if (visible) void test()
  }
}

/** Reads the key that seals webhook secrets on a Postgres server, or makes one. Source: A-52. */
function secretKeyIn({ folder }: StateFolder): string {
  const path = join(folder ?? '', 'postgres.key')
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const key = randomBytes(32).toString('base64')
    writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
    return key
  }
}

/** Throws if the database belongs to a deployment: dev would migrate it, make accounts there and send its webhooks. */
async function refuseForeign(postgres: PostgresOptions, name: string): Promise<void> {
  const db = await openDatabase({ file: null, postgres, onFatal: () => {} })
  try {
    const isForeign = await db
      .read(async q => (await countUsers(q)) > 0 && !(await userByEmail(q, BUYER)))
      .catch(() => false) // an empty database has no tables yet
    if (isForeign)
      throw new UsageError(
        `${name} has accounts that no dev has made, so dev does not touch it. Give --db an empty database.`,
      )
  } finally {
    await db.close()
  }
}

interface Followers extends Furnished {
  market: Market
  sample: SampleAgent
  forwarding: Forwarding
  run: AgentRun | null
}

/** The sample agent uses a new secret at once. A process of `--run` is started anew with it. */
function followSecrets({ market, credentials, keep, staff, sample, forwarding, run }: Followers): void {
  const follow = async (id: string) => {
    const agent = credentials.agents.find(one => one.id === id)
    const secret = agent && (await secretOf(market, id))
    if (!secret || secret === agent.webhookSecret) return
    agent.webhookSecret = secret
    keep()
    if (agent === credentials.agents[0]) {
      sample.use(secret)
      await testSample(market, staff, id)
    } else if (run) run.restart('it has a new secret')
    else forwarding.secretChanged(id)
  }
  market.webhooks.watchTargets(id => {
    follow(id).catch(error => market.log({ type: 'warning', message: `A new secret was not taken: ${error.message}` }))
  })
}
