/** Prints log entries: for programs one JSON object a line, for people in columns. */

import type { StampedEntry } from '../../market/log.ts'
import { entryJson } from '../../market/recording.ts'
import type { LogLevel } from '../../settings/config.ts'
import { type Ui, widthOf } from '../output/ui.ts'
import { CausalOrder } from './causal-order.ts'
import { DownOnPurpose } from './down-on-purpose.ts'
import { entryText } from './entry-columns.ts'
import { type CommandOf, entryLine, tail } from './entry-lines.ts'
import { isWithin } from './levels.ts'
import { Repeats } from './repeats.ts'
import { ToldOnce } from './told-once.ts'

/** The columns of the terminal; null if there is none. */
export const terminalWidth = () => widthOf(process.stdout)

interface EntryLogOptions {
  json: boolean
  level: LogLevel
  /** Names of accounts and agents by id. */
  names?: Map<string, string>
  /** Finds the name of an agent that `names` does not have. */
  findAgent?: (id: string) => Promise<string | undefined>
  commandOf?: CommandOf
  /** Leaves out what people do not want to see now. */
  isWanted?: (entry: StampedEntry, rows: readonly string[]) => boolean
}

/** Holds entries back until `open()` is called, so that the ready line comes first. */
export function entryLog(ui: Ui, options: EntryLogOptions) {
  const { json, level, names = new Map(), findAgent, commandOf, isWanted = () => true } = options
  let waiting: StampedEntry[] | null = []
  /** What comes while the name of an agent is looked up. */
  let behind: StampedEntry[] | null = null
  const down = new DownOnPurpose()
  const told = new ToldOnce()
  const repeats = new Repeats()
  const order = new CausalOrder(entry => {
    const lines = repeats.lines(entry, down.lines(entry, entryLine(entry, names, commandOf)))
    const rows = lines.flatMap(line => entryText(ui, told.line(entry, line), entry, names, terminalWidth()))
    if (isWanted(entry, rows)) for (const row of rows) ui.raw(row)
  })
  const goOn = () => {
    const next = behind ?? []
    behind = null
    next.forEach(print)
  }
  const print = (entry: StampedEntry) => {
    if (json) return ui.raw(entryJson(entry))
    if (behind) return void behind.push(entry)
    const id = 'agentId' in entry ? entry.agentId : null
    if (!findAgent || id === null || names.has(id)) return order.add(entry)
    behind = [entry]
    const learn = (name = tail(id)) => void names.set(id, name)
    findAgent(id)
      .then(learn, () => learn())
      .then(goOn)
  }
  const log = (entry: StampedEntry) => {
    if (!isWithin(entry, level)) return
    if (waiting) waiting.push(entry)
    else print(entry)
  }
  return {
    log,
    /** `isWanted`: which of the entries so far are shown. */
    open(isWanted: (entry: StampedEntry) => boolean = () => true) {
      const past = waiting ?? []
      waiting = null
      past.filter(isWanted).forEach(print)
    },
    /** Prints what was held back to come behind its cause. */
    end() {
      for (const entry of behind ?? []) order.add(entry)
      behind = null
      order.end()
    },
  }
}
