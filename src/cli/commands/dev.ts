/** `marketplace dev`: the local simulator. Source. */
import { clockMoves } from '../../api/limits.ts'
import { type Flags, readSettings, UsageError } from '../../config.ts'
import type { Market } from '../../market/market.ts'
import { people } from '../../sim/seed.ts'
import { agentById } from '../../store/tables/agents.ts'
import { debugLines } from '../debug-lines.ts'
import { type RunningDev, runningDev } from '../dev/attach.ts'
import { type AgentFlags, givenAgents } from '../dev/given-agents.ts'
import { type Pace, startSimulator } from '../dev/simulator.ts'
import { credentialsPath, stateFolderOf } from '../dev/state-folder.ts'
import { numberGiven } from '../json-input.ts'
import { entryLog } from '../log-lines.ts'
import { markPrinted } from '../output.ts'
import { untilSignal } from '../shutdown.ts'
import { showStart } from '../start-screen.ts'
import { createUi } from '../ui.ts'

export interface DevFlags extends Flags, AgentFlags {
  json?: boolean
  ephemeral?: boolean
  seed?: string
  watch?: string[]
  clockScale?: string
  retries?: string
  new?: boolean
}

export async function dev(flags: DevFlags): Promise<number> {
  try {
    return await run(flags.new ? besideAnother(flags) : flags)
  } catch (error) {
    // Programs read stdout only. `main` prints the error for people.
    if (flags.json) {
      createUi().json({ type: 'error', message: (error as Error).message })
      markPrinted(error)
    }
    throw error
  }
}

async function run(flags: DevFlags): Promise<number> {
  const settings = readSettings('dev', flags)
  if (flags.ephemeral && flags.db !== undefined) throw new UsageError('--ephemeral keeps nothing, so it takes no --db.')
  if (settings.db.postgres) throw new UsageError('dev keeps its data in a file; marketplace serve takes a Postgres.')
  const state = stateFolderOf(flags.ephemeral ? null : settings.db.file)
  const ui = createUi()
  const running = await runningDev(state)
  if (running) return attach(running, flags, { ui, json: flags.json === true, level: settings.logLevel })
  const names = new Map<string, string>()
  const json = flags.json === true
  let market: Market | undefined
  const findAgent = async (id: string) => (await market?.db.read(q => agentById(q, id)))?.slug
  const { log, open, end } = entryLog(ui, { json, level: settings.logLevel, names, findAgent })
  const debug = debugLines(settings.logLevel, json)
  const { run: command, watch = [] } = flags
  const agents = givenAgents(flags)
  if (watch.length > 0 && command === undefined)
    throw new UsageError('--watch is for --run: it starts that command anew.')
  const given = { agents, run: command, watch, pace: paceOf(flags) }
  const sim = await startSimulator({ settings, state, seed: seedOf(flags.seed), ...given, log, debug })
  const ended = untilSignal(sim.close)
  const { marketplace, credentials } = sim
  market = marketplace.market
  for (const person of people) names.set(credentials.accounts[person].id, person)
  for (const { id, slug } of credentials.agents) names.set(id, slug)
  if (json) {
    ui.json({ type: 'ready', mode: 'dev', url: marketplace.url, db: state.db, pid: process.pid, ...credentials })
  } else
    showStart(ui, {
      url: marketplace.url,
      file: state.file,
      credentialsFile: credentialsPath(state),
      fromProject: settings.fromProject,
      ...credentials,
    })
  open()
  sim.begin()
  return ended.finally(end)
}

function paceOf({ clockScale = '1', retries = 'quick' }: DevFlags): Pace {
  if (retries !== 'quick' && retries !== 'real') throw new UsageError(`--retries takes quick or real, not ${retries}.`)
  return { clockScale: numberGiven('--clock-scale', clockScale, [1, clockMoves.scale]), retries }
}

/** A simulator of its own: on a free port, and keeping nothing unless --db says where. */
const besideAnother = (flags: DevFlags): DevFlags => ({
  ...flags,
  port: flags.port ?? '0',
  ...(flags.db === undefined && { ephemeral: true }),
})

const starting = ['forwardTo', 'agent', 'run', 'watch', 'seed', 'clockScale', 'retries'] as const

/** Shows the log of the dev that runs here. What this one was asked to start can't be started there. */
function attach(running: RunningDev, flags: DevFlags, shown: Parameters<RunningDev['follow']>[0]): Promise<number> {
  const asked = starting.find(name => flags[name] !== undefined)
  if (asked === undefined) return running.follow(shown)
  const flag = asked.replace(/[A-Z]/, letter => `-${letter.toLowerCase()}`)
  throw new UsageError(`A dev runs here already, at ${running.url}: end it, or add --new to --${flag} for another one.`)
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seedNumber = Number(text)
  if (/^-?\d{1,15}$/.test(text) && Number.isSafeInteger(seedNumber)) return seedNumber
  throw new UsageError(`--seed takes a whole number, not ${text}.`)
}
