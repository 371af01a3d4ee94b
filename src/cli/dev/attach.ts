/** A second `dev` in a folder shows the log of the first, and leaves it running when it ends. */
import { setTimeout as sleep } from 'node:timers/promises'
import { COMMAND_LINE } from '../../api/command-line.ts'
import { Transport, UnreachableError } from '../../client/transport.ts'
import { clientOn } from '../../client/typed-client.ts'
import type { StampedEntry } from '../../market/log.ts'
import { type LogLevel, version } from '../../settings/config.ts'
import { people } from '../../sim/seed.ts'
import { instanceAt } from '../connection/instance-check.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { versionWords } from '../connection/target.ts'
import { exitCodes } from '../exit-codes.ts'
import { type LiveScreen, liveScreen } from '../keys/live-screen.ts'
import type { CommandOf } from '../log/entry-lines.ts'
import { entryLog } from '../log/lines.ts'
import { untilSignal } from '../shutdown.ts'
import { whenReaderEnds } from './output-reader.ts'
import { type Kept, mayRun, readCredentials, type StateFolder } from './state-folder.ts'

interface Attaching {
  json: boolean
  level: LogLevel
  commandOf: CommandOf
}

/** The dev that has this state and answers. */
export interface RunningDev {
  readonly url: string
  /** Shows its log until it ends, or until Ctrl-C. Resolves to an exit code. */
  follow(options: Attaching): Promise<number>
}

interface Found {
  readonly kept: Kept
  readonly transport: Transport
}

/** It listens, so it is there: a busy machine answers late. */
const PATIENCE_MS = 10_000

/** Returns null if none answers. */
export async function runningDev(state: StateFolder): Promise<RunningDev | null> {
  const found = await find(state)
  return found && { url: found.kept.url, follow: options => follow(state, found, options) }
}

async function find(state: StateFolder): Promise<Found | null> {
  if (!(await mayRun(state))) return null
  const kept = readCredentials(state)
  if (!kept) return null
  const { url, accounts } = kept
  const transport = new Transport({ baseUrl: url, apiKey: accounts.admin.apiKey, userAgent: COMMAND_LINE + version })
  const answering = await instanceAt(transport, AbortSignal.timeout(PATIENCE_MS)).catch(() => null)
  return answering === kept.instance ? { kept, transport } : null
}

/** The last entry that was shown. A log that is read anew begins with what is known already, or behind a new start. */
interface Shown {
  seq: number
  realAt: number
}

interface Following extends Attaching {
  screen: LiveScreen
  signal: AbortSignal
  shown: Shown
}

async function follow(state: StateFolder, first: Found, options: Attaching): Promise<number> {
  const screen = await liveScreen(options.json)
  const stop = new AbortController()
  void untilSignal(async () => {
    screen.close()
    stop.abort()
  }, whenReaderEnds)
  const { signal } = stop
  const following = { ...options, screen, signal, shown: { seq: 0, realAt: 0 } }
  const say = (words: string) => options.json || signal.aborted || screen.ui.line(words)
  say(`Attached to the dev of this folder, on ${portOf(first)}: its log follows. Ctrl-C ends this, not that.`)
  say(`See it all in a browser: ${first.kept.url}/console`)
  const otherVersion = versionWords(first.kept.version)
  if (otherVersion) say(otherVersion)
  say(`Another one beside it: ${nextSteps.startDev()} --new`)
  let where = ''
  try {
    for (let found: Found | null = first; found; found = await foundAgain(state, signal)) {
      where = portOf(found)
      if (found !== first) say(`It runs again, on ${where}.`)
      await showLog(found, following)
      say(`The dev on ${where} does not answer. If it starts again within ${AGAIN_MS / 1000} s, its log goes on.`)
    }
  } finally {
    screen.close()
  }
  say(`The dev on ${where} has ended.`)
  return exitCodes.ok
}

const portOf = ({ kept }: Found) => `port ${new URL(kept.url).port}`

/** Long enough for whoever ends it and starts it again by hand. */
const AGAIN_MS = 20_000
const PAUSE_MS = 250

/** Looks for a new start of it for a while. */
async function foundAgain(state: StateFolder, signal: AbortSignal): Promise<Found | null> {
  const patience = AbortSignal.timeout(AGAIN_MS)
  while (!signal.aborted && !patience.aborted) {
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
    const found = await find(state)
    if (found) return found
  }
  return null
}

/** Shows its log until the connection ends. */
async function showLog({ kept, transport }: Found, following: Following): Promise<void> {
  const { json, level, commandOf, screen, signal, shown } = following
  const { url, accounts, agents } = kept
  const names = new Map(agents.map(({ id, slug }) => [id, slug]))
  for (const person of people) names.set(accounts[person].id, person)
  const client = clientOn(transport)
  const findAgent = async (id: string) => (await client.adminGetAgent({ id })).slug
  const { ui, isWanted } = screen
  const { log, open, end } = entryLog(ui, { json, level, names, findAgent, commandOf, isWanted })
  try {
    const entries = await client.watchEvents(shown.seq === 0 ? {} : { after: 0 }, { signal })
    if (json) ui.json({ type: 'attached', url })
    open()
    screen.begin({ url, accounts, agents })
    for await (const told of entries) {
      const entry = stampedOf(told)
      if (entry.seq <= shown.seq && entry.realAt <= shown.realAt) continue
      Object.assign(shown, { seq: entry.seq, realAt: entry.realAt })
      screen.hear(entry)
      log(entry)
    }
  } catch (error) {
    // A connection that breaks off is an end, too.
    if (!signal.aborted && !isBroken(error)) throw error
  } finally {
    end()
  }
}

const isBroken = (error: unknown) => error instanceof TypeError || error instanceof UnreachableError

const stampedOf = (entry: { at: string; realAt: string }) =>
  ({ ...entry, at: Date.parse(entry.at), realAt: Date.parse(entry.realAt) }) as unknown as StampedEntry
