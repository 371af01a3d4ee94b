/** `marketplace dev`: the local simulator. Source. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Flags, readSettings, type Settings, UsageError } from '../../config.ts'
import type { DebugSinks } from '../../debug.ts'
import type { Log } from '../../market/log.ts'
import { verbs } from '../../market/verbs.ts'
import { type Marketplace, openMarketplace } from '../../open.ts'
import { createFrontAuthority } from '../../sim/https-front.ts'
import { type SampleAgent, startSampleAgent } from '../../sim/sample-agent.ts'
import { actorOf, type Credentials, people, seed } from '../../sim/seed.ts'
import { debugLines } from '../debug-lines.ts'
import { entryLog } from '../log-lines.ts'
import { endAfterDiskFailure, untilSignal } from '../shutdown.ts'
import { showStart } from '../start-screen.ts'
import { createUi } from '../ui.ts'

export interface DevFlags extends Flags {
  json?: boolean
  ephemeral?: boolean
  seed?: string
}

export async function dev(flags: DevFlags): Promise<number> {
  try {
    return await run(flags)
  } catch (error) {
    // Programs read stdout only. `main` prints the error for people.
    if (flags.json) createUi().json({ type: 'error', message: (error as Error).message })
    throw error
  }
}

async function run(flags: DevFlags): Promise<number> {
  const settings = readSettings('dev', flags)
  if (flags.ephemeral && flags.db !== undefined) throw new UsageError('--ephemeral keeps nothing, so it takes no --db.')
  if (settings.db.postgres) throw new UsageError('dev keeps its data in a file; marketplace serve takes a Postgres.')
  const file = flags.ephemeral ? null : settings.db.file
  const ui = createUi()
  const names = new Map<string, string>()
  const json = flags.json === true
  const { log, open } = entryLog(ui, { json, level: settings.logLevel, names })
  const debug = debugLines(settings.logLevel, json)
  const sim = await startSimulator(settings, file, seedOf(flags.seed), { log, debug })
  const ended = untilSignal(sim.close)
  const { marketplace, credentials } = sim
  for (const person of people) names.set(credentials.accounts[person].id, person)
  if (json) {
    const db = file ?? ':memory:'
    ui.json({ type: 'ready', mode: 'dev', url: marketplace.url, db, pid: process.pid, ...credentials })
  } else
    showStart(ui, {
      url: marketplace.url,
      file,
      credentialsFile: file && credentialsPath(file),
      fromProject: settings.fromProject,
      ...credentials,
    })
  open()
  sim.begin()
  return ended
}

interface Telling {
  log: Log
  debug: DebugSinks
}

async function startSimulator(
  settings: Settings,
  file: string | null,
  seedNumber: number | undefined,
  telling: Telling,
) {
  const { log } = telling
  if (file !== null) mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  let seeded = () => {}
  const authority = createFrontAuthority(new Promise<void>(resolve => (seeded = resolve)))
  const agent = await startSampleAgent(authority, error =>
    log({ type: 'warning', message: `The sample agent's callback was refused: ${error.message}` }),
  )
  try {
    const marketplace = await openMarketplace({
      ...settings,
      mode: 'dev',
      file,
      seed: seedNumber,
      ca: authority.ca,
      ...telling,
      holder: `marketplace dev on port ${settings.port}`,
      onFatal: endAfterDiskFailure,
    })
    let closing = false
    const close = async () => {
      closing = true
      await marketplace.close()
      await agent.close()
    }
    try {
      const credentials = await seedMarketplace(marketplace, agent)
      const test = () => {
        seeded()
        return testFirst(marketplace, credentials)
      }
      // In an old database the agent's last test may be too old, so this waits for a new one. In a new database it can be
      // hired at once.
      if (file !== null) await test()
      const begin = () => {
        if (file !== null) return
        test().catch(
          error => closing || log({ type: 'warning', message: `The sample agent is untested: ${error.message}` }),
        )
      }
      return { marketplace, credentials, begin, close }
    } catch (error) {
      await marketplace.close(0)
      throw error
    }
  } catch (error) {
    await agent.close()
    throw error
  }
}

/** Creates or updates the accounts and agents, and gives the running agent its secret. */
async function seedMarketplace({ market, url, file }: Marketplace, agent: SampleAgent): Promise<Credentials> {
  const credentials = await seed(market, file === null ? null : readCredentials(file), agent.url)
  if (file !== null) keepCredentials(file, url, market.config.instanceId, credentials)
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

const credentialsPath = (file: string) => join(dirname(file), 'credentials.json')

/** Returns null if there is no readable file. New credentials are made then. */
function readCredentials(file: string): Credentials | null {
  try {
    const { db, accounts, agents } = JSON.parse(readFileSync(credentialsPath(file), 'utf8'))
    return db === file ? { accounts, agents } : null
  } catch {
    return null
  }
}

/** Writes the address and the keys where commands in the same folder look for them. */
function keepCredentials(file: string, url: string, instance: string, credentials: Credentials): void {
  const text = `${JSON.stringify({ url, instance, db: file, ...credentials }, null, 2)}\n`
  writeFileSync(credentialsPath(file), text, { mode: 0o600 })
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seedNumber = Number(text)
  if (/^-?\d{1,15}$/.test(text) && Number.isSafeInteger(seedNumber)) return seedNumber
  throw new UsageError(`--seed takes a whole number, not ${text}.`)
}
