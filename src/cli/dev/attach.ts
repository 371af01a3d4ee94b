/** A second `dev` in a folder shows the log of the first, and leaves it running when it ends. */
import { COMMAND_LINE } from '../../api/command-line.ts'
import { clientOn } from '../../client/client.ts'
import { Transport } from '../../client/transport.ts'
import { type LogLevel, version } from '../../config.ts'
import type { StampedEntry } from '../../market/log.ts'
import { people } from '../../sim/seed.ts'
import type { CommandOf } from '../entry-lines.ts'
import { exitCodes } from '../exit-codes.ts'
import { instanceAt } from '../instance-check.ts'
import { entryLog } from '../log-lines.ts'
import { nextSteps } from '../next-steps.ts'
import { untilSignal } from '../shutdown.ts'
import type { Ui } from '../ui.ts'
import { whenReaderEnds } from './reader.ts'
import { readCredentials, type StateFolder } from './state-folder.ts'

interface Attaching {
  ui: Ui
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

const PATIENCE_MS = 2_000

/** Returns null if none answers. */
export async function runningDev(state: StateFolder): Promise<RunningDev | null> {
  const kept = readCredentials(state)
  if (!kept?.instance) return null
  const { url, accounts, agents } = kept
  const transport = new Transport({ baseUrl: url, apiKey: accounts.admin.apiKey, userAgent: COMMAND_LINE + version })
  const found = await instanceAt(transport, AbortSignal.timeout(PATIENCE_MS)).catch(() => null)
  if (found !== kept.instance) return null
  const names = new Map(agents.map(({ id, slug }) => [id, slug]))
  for (const person of people) names.set(accounts[person].id, person)
  return { url, follow: options => follow(transport, names, options) }
}

async function follow(transport: Transport, names: Map<string, string>, { ui, json, level, commandOf }: Attaching) {
  const url = transport.baseUrl
  const where = `port ${new URL(url).port}`
  const client = clientOn(transport)
  const findAgent = async (id: string) => (await client.adminGetAgent({ id })).slug
  const { log, open, end } = entryLog(ui, { json, level, names, findAgent, commandOf })
  const stop = new AbortController()
  void untilSignal(async () => stop.abort(), whenReaderEnds)
  const { signal } = stop
  try {
    const entries = await client.watchEvents({}, { signal })
    if (json) ui.json({ type: 'attached', url })
    else {
      ui.line(`Attached to the dev of this folder, on ${where}: its log follows. Ctrl-C ends this, not that.`)
      ui.line(`Another one beside it: ${nextSteps.startDev()} --new`)
    }
    open()
    for await (const entry of entries) log(stampedOf(entry))
  } catch (error) {
    // A connection that breaks off is an end, too.
    if (!signal.aborted && !(error instanceof TypeError)) throw error
  }
  end()
  if (!signal.aborted && !json) ui.line(`The dev on ${where} has ended.`)
  return exitCodes.ok
}

const stampedOf = (entry: { at: string; realAt: string }) =>
  ({ ...entry, at: Date.parse(entry.at), realAt: Date.parse(entry.realAt) }) as unknown as StampedEntry
