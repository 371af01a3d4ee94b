/** `marketplace dev`: the local simulator. Source. */
import { shellWord } from '../../api/command-line.ts'
import { clockMoves } from '../../api/limits.ts'
import type { StampedEntry } from '../../market/log.ts'
import type { Market } from '../../market/market.ts'
import { type Flags, readSettings, remarksOn, UsageError } from '../../settings/config.ts'
import { baseUrlOf } from '../../settings/values.ts'
import { people } from '../../sim/seed.ts'
import { readOwner } from '../../store/embedded/lock-owner.ts'
import { agentById } from '../../store/tables/agents/agents.ts'
import type { CommandTable } from '../command-line/command.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { CREDENTIALS_FILE } from '../connection/dev-folder.ts'
import { nextSteps } from '../connection/next-steps.ts'
import type { RunningDev } from '../dev/attach.ts'
import type { PrintEnvFlags } from '../dev/environment.ts'
import { type AgentFlags, givenAgents } from '../dev/given-agents.ts'
import { whenReaderEnds } from '../dev/output-reader.ts'
import { personasCalled } from '../dev/personas.ts'
import { type Pace, type Simulator, startSimulator } from '../dev/simulator.ts'
import { credentialsPath, mayRun, neededCredentials, type StateFolder, stateFolderOf } from '../dev/state-folder.ts'
import { exitCodes } from '../exit-codes.ts'
import { liveScreen } from '../keys/live-screen.ts'
import { showKeys, showStart } from '../keys/start-screen.ts'
import { commandFinder } from '../log/command-of.ts'
import { debugLines } from '../log/debug-lines.ts'
import type { CommandOf } from '../log/entry-lines.ts'
import { entryLog } from '../log/lines.ts'
import { withDiskReason, withSystemReason } from '../output/disk-faults.ts'
import { markPrinted } from '../output/output.ts'
import { createUi, giveSecretsIn, print } from '../output/ui.ts'
import { untilSignal } from '../shutdown.ts'
import { letYoungGrow } from '../young-heap.ts'

export interface DevFlags extends Flags, AgentFlags, PrintEnvFlags {
  agent?: string[]
  json?: boolean
  ephemeral?: boolean
  seed?: string
  watch?: string[]
  clockScale?: string
  retries?: string
  persona?: string[]
  new?: boolean
  publicUrl?: string
  showKeys?: boolean
  reset?: boolean
  yes?: boolean
}

export async function dev(flags: DevFlags, wholeTable: () => Promise<CommandTable>): Promise<number> {
  try {
    return await run(flags.new ? besideAnother(flags) : flags, wholeTable)
  } catch (thrown) {
    const error = withSystemReason(thrown as Error)
    // Programs read stdout only. `main` prints the error for people.
    if (flags.json && flags.printEnv === undefined) {
      createUi().json({ type: 'error', message: error.message })
      markPrinted(error)
    }
    throw error
  }
}

async function run(flags: DevFlags, wholeTable: () => Promise<CommandTable>): Promise<number> {
  const settings = readSettings('dev', publicOf(flags))
  if (flags.ephemeral && flags.db !== undefined) throw new UsageError('--ephemeral keeps nothing, so it takes no --db.')
  const state = stateFolderOf(settings.db, flags.ephemeral === true)
  // What most starts do without is loaded where it is needed.
  if (flags.printEnv !== undefined) {
    const { environmentText } = await import('../dev/environment.ts')
    print(environmentText(flags, state), { whole: true })
    return exitCodes.ok
  }
  if (flags.showKeys) return printKeys(flags, state)
  const given = givenIn(flags)
  if (flags.reset) await (await import('../dev/reset.ts')).reset(state, flags.yes === true)
  const running = (await mayRun(state)) ? await (await import('../dev/attach.ts')).runningDev(state) : null
  const findCommand = async () => commandFinder(await wholeTable())
  const json = flags.json === true
  if (running) return attach(running, flags, state, { json, level: settings.logLevel, commandOf: await findCommand() })
  const names = new Map<string, string>()
  const screen = await liveScreen(json)
  const { ui, isWanted } = screen
  let market: Market | undefined
  const findAgent = async (id: string) => (await market?.db.read(q => agentById(q, id)))?.slug
  let found: CommandOf = () => undefined
  const commandOf: CommandOf = (method, route) => found(method, route)
  const shown = entryLog(ui, { json, level: settings.logLevel, names, findAgent, commandOf, isWanted })
  const log = (entry: StampedEntry) => {
    screen.hear(entry)
    shown.log(entry)
  }
  const debug = debugLines(settings.logLevel, json)
  const sim = await startSimulator({ settings, state, ...given, triesForgery: true, log, debug }).catch(async error => {
    const { withPortOwner } = await import('../doctor/port-owner.ts')
    throw await withPortOwner(withFolderReason(error, state), settings.host, settings.port)
  })
  const ended = untilSignal(() => {
    screen.close()
    return sim.close()
  }, whenReaderEnds)
  const { marketplace, credentials } = sim
  market = marketplace.market
  for (const [id, name] of namesIn(sim)) names.set(id, name)
  if (json) {
    giveSecretsIn(credentials)
    ui.json({ type: 'ready', mode: 'dev', url: marketplace.url, db: state.db, pid: process.pid, ...credentials })
  } else {
    showStart(ui, {
      ...{ url: marketplace.url, hasConsole: settings.console === 'on', listed: sim.listed },
      ...{ ...keptOf(flags, state), ...credentials },
    })
    for (const remark of remarksOn(settings)) market.log(remark)
    // Only lines for people name commands. All of them take a while to load, which the start need not wait for.
    found = await findCommand()
  }
  // How dev has furnished itself is nothing that people did.
  shown.open(entry => json || (TOLD.has(entry.type) && !(entry.type === 'migration' && entry.from === 0)))
  screen.begin({ url: marketplace.url, ...credentials })
  sim.begin()
  letYoungGrow()
  return ended.finally(shown.end)
}

/** The keys of the dev of this folder, which may have ended. */
function printKeys({ ephemeral, json }: DevFlags, state: StateFolder): number {
  if (ephemeral) throw new UsageError('--ephemeral keeps nothing: press a in that dev, or start it with --json.')
  const kept = neededCredentials(state)
  const ui = createUi()
  giveSecretsIn(kept)
  if (json) ui.json(kept)
  else showKeys(ui, kept)
  return exitCodes.ok
}

const keptOf = ({ db }: DevFlags, state: StateFolder) => ({
  keys: state.folder === null ? null : nextSteps.showKeys(db === undefined ? '' : ` --db ${shellWord(state.db)}`),
  isFound: credentialsPath(state) === CREDENTIALS_FILE,
})

/** What people are told of the time before the first line. */
const TOLD: ReadonlySet<string> = new Set<StampedEntry['type']>(['info', 'warning', 'error', 'migration'])

/** Those of accounts and agents, by id. */
const namesIn = ({ credentials, buyers, silent }: Simulator): readonly (readonly [id: string, name: string])[] => [
  ...people.map(person => [credentials.accounts[person].id, person] as const),
  ...credentials.agents.map(({ id, slug }) => [id, slug] as const),
  ...buyers,
  ...silent,
]

function withFolderReason(error: Error, { folder }: StateFolder): Error {
  if (folder === null) return error
  const hint = `${nextSteps.startEphemeral()} keeps nothing; --db FILE keeps it elsewhere.`
  return withDiskReason(error, `dev can't keep its state in ${folder}`, hint)
}

function givenIn(flags: DevFlags) {
  const { run: command, watch = [], seed } = flags
  if (watch.length > 0 && command === undefined)
    throw new UsageError('--watch is for --run: it starts that command anew.')
  const personas = personasCalled(flags.persona)
  return { agents: givenAgents(flags), run: command, watch, seed: seedOf(seed), pace: paceOf(flags), personas }
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

const starting = [
  'forwardTo',
  'agent',
  'run',
  'watch',
  'seed',
  'clockScale',
  'retries',
  'persona',
  'publicUrl',
] as const

/** Shows the log of the dev that runs here. What this one was asked to start can't be started there. */
async function attach(
  running: RunningDev,
  flags: DevFlags,
  { file }: StateFolder,
  shown: Parameters<RunningDev['follow']>[0],
) {
  const asked = starting.find(name => flags[name] !== undefined)
  if (asked === undefined) return running.follow(shown)
  const flag = asked.replace(/[A-Z]/, letter => `-${letter.toLowerCase()}`)
  // Its terminal may be gone.
  const owner = file === null ? undefined : await readOwner(`${file}.lock`)
  const itself = owner ? `it (process ${owner.pid})` : 'it'
  throw new UsageError(
    `A dev runs here already, at ${running.url}: end ${itself}, or add --new to --${flag} for another one.`,
  )
}

/** `--public-url` is the word of agents for what operators call the base URL. */
function publicOf(flags: DevFlags): Flags {
  const { publicUrl, baseUrl } = flags
  if (publicUrl === undefined) return flags
  if (baseUrl !== undefined) throw new UsageError('--public-url and --base-url are the same: give one of them.')
  return { ...flags, baseUrl: baseUrlOf(publicUrl, '--public-url') }
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seedNumber = Number(text)
  if (/^-?\d{1,15}$/.test(text) && Number.isSafeInteger(seedNumber)) return seedNumber
  throw new UsageError(`--seed takes a whole number, not ${text}.`)
}
