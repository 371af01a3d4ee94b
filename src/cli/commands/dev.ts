/** `marketplace dev`: the local simulator. Source. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Flags, readSettings, type Settings, UsageError } from '../../config.ts'
import type { Log } from '../../market/log.ts'
import { verbs } from '../../market/verbs.ts'
import { type Marketplace, openMarketplace } from '../../open.ts'
import { createFrontAuthority } from '../../sim/https-front.ts'
import { type SampleAgent, startSampleAgent } from '../../sim/sample-agent.ts'
import { actorOf, type Credentials, people, seed } from '../../sim/seed.ts'
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
    // Programs read stdout alone; main tells people.
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
  const { log, open } = entryLog(ui, flags.json === true, names)
  const sim = await startSimulator(settings, file, seedOf(flags.seed), log)
  const ended = untilSignal(sim.close)
  const { house, credentials } = sim
  for (const person of people) names.set(credentials.accounts[person].id, person)
  if (flags.json) {
    const db = file ?? ':memory:'
    ui.json({ type: 'ready', mode: 'dev', url: house.url, db, pid: process.pid, ...credentials })
  } else
    showStart(ui, {
      url: house.url,
      file,
      credentialsFile: file && credentialsPath(file),
      fromProject: settings.fromProject,
      ...credentials,
    })
  open()
  sim.begin()
  return ended
}

async function startSimulator(settings: Settings, file: string | null, seedNumber: number | undefined, log: Log) {
  if (file !== null) mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  let furnished = () => {}
  const authority = createFrontAuthority(new Promise<void>(resolve => (furnished = resolve)))
  const agent = await startSampleAgent(authority, error =>
    log({ type: 'warning', message: `The sample agent's callback was refused: ${error.message}` }),
  )
  try {
    const house = await openMarketplace({
      ...settings,
      mode: 'dev',
      file,
      seed: seedNumber,
      ca: authority.ca,
      log,
      holder: `marketplace dev on port ${settings.port}`,
      onFatal: endAfterDiskFailure,
    })
    let closing = false
    const close = async () => {
      closing = true
      await house.close()
      await agent.close()
    }
    try {
      const credentials = await furnish(house, agent)
      const test = () => {
        furnished()
        return testFirst(house, credentials)
      }
      // What an old database lists may be stale; what a fresh one lists has just been made and can be hired.
      if (file !== null) await test()
      const begin = () => {
        if (file !== null) return
        test().catch(
          error => closing || log({ type: 'warning', message: `The sample agent is untested: ${error.message}` }),
        )
      }
      return { house, credentials, begin, close }
    } catch (error) {
      await house.close(0)
      throw error
    }
  } catch (error) {
    await agent.close()
    throw error
  }
}

/** Accounts and agents, of which the first works. */
async function furnish({ market, url, file }: Marketplace, agent: SampleAgent): Promise<Credentials> {
  const credentials = await seed(market, file === null ? null : readCredentials(file), agent.url)
  if (file !== null) keepCredentials(file, url, market.config.instanceId, credentials)
  agent.use(credentials.agents[0]!.webhookSecret)
  return credentials
}

/** The first agent's connection test, at each start. Source: A-6. */
async function testFirst({ market }: Marketplace, { accounts, agents }: Credentials): Promise<void> {
  const actor = await actorOf(market, accounts.builder.id)
  const params = { id: agents[0]!.id }
  const report = await verbs.testConnection({ ...market, actor }, { params, query: {}, body: undefined })
  const failed = report.checks.find(({ status }) => status === 'failed')
  if (failed) market.log({ type: 'warning', message: `The sample agent failed its test: ${failed.message}` })
}

const credentialsPath = (file: string) => join(dirname(file), 'credentials.json')

/** null if there are none, or none that can be read: then new ones are made. */
function readCredentials(file: string): Credentials | null {
  try {
    const { db, accounts, agents } = JSON.parse(readFileSync(credentialsPath(file), 'utf8'))
    return db === file ? { accounts, agents } : null
  } catch {
    return null
  }
}

/** Commands in the same folder find the address and the keys here. */
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
