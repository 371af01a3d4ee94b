/** Prints log entries, one a line, for people or for programs. */
import type { LogLevel } from '../config.ts'
import { entryText } from '../market/entry-ring.ts'
import type { LogEntry, StampedEntry } from '../market/log.ts'
import { isWithin } from './log-levels.ts'
import { money, plain, type Ui } from './ui.ts'

/** Names of accounts by id. */
type Names = ReadonlyMap<string, string>

interface EntryLogOptions {
  json: boolean
  level: LogLevel
  names?: Names
}

/** Holds entries back until `open()` is called, so that the ready line comes first. */
export function entryLog(ui: Ui, { json, level, names = new Map() }: EntryLogOptions) {
  let waiting: StampedEntry[] | null = []
  const print = (entry: StampedEntry) => {
    if (json) ui.line(entryText(entry))
    else ui.line(`${ui.colour.dim(new Date(entry.realAt).toLocaleTimeString('en-GB'))} ${lineOf(ui, entry, names)}`)
  }
  const log = (entry: StampedEntry) => {
    if (!isWithin(entry, level)) return
    if (waiting) waiting.push(entry)
    else print(entry)
  }
  return {
    log,
    open(withPast = true) {
      const past = waiting ?? []
      waiting = null
      if (withPast) past.forEach(print)
    },
  }
}

function lineOf({ colour }: Ui, what: LogEntry, names: Names): string {
  const mark = (good: boolean) => (good ? colour.green : colour.red)
  switch (what.type) {
    case 'request':
      return `${colour.cyan('request ')} ${plain(`${what.method} ${what.path}`)} ${mark(what.status < 400)(what.status)} ${Math.round(what.ms)} ms`
    case 'webhook': {
      const end = what.status ?? what.reason ?? ''
      const next = what.nextAttemptAt ? `, again at ${what.nextAttemptAt}` : ''
      const outcome = mark(what.outcome === 'delivered')(`${what.outcome} ${plain(String(end))}`)
      return `${colour.magenta('webhook ')} ${what.event} ${what.taskId} attempt ${what.attempt}: ${outcome}${next}`
    }
    case 'callback': {
      const fault = what.error ? ` ${plain(what.error)}` : ''
      return `${colour.blue('callback')} ${plain(`${what.action} ${what.taskId}`)} ${mark(what.status < 400)(what.status)}${fault}`
    }
    case 'money': {
      const task = what.taskId ? ` (task ${tail(what.taskId)})` : ''
      return `${colour.yellow('money   ')} ${what.kind} ${money(what.amount)}: ${wayOf(what.from, what.to, names)}${task}`
    }
    case 'task':
      return `${colour.white('task    ')} ${what.taskId} ${what.trigger}: ${what.from ?? 'new'} → ${what.to}`
    case 'check':
      return `${colour.white('check   ')} ${what.check} ${what.name} ${mark(what.status !== 'failed')(what.status)} ${plain(what.message)}`
    case 'mail': {
      const words = what.mail
      if (words)
        return `${colour.yellow('mail    ')} to ${plain(words.to)}: ${plain(words.subject)}\n${indented(words.text)}`
      return `${colour.yellow('mail    ')} ${what.kind} ${mark(what.outcome === 'sent')(what.outcome)} ${plain(what.reason ?? '')}`
    }
    case 'start':
      return `${colour.white('start   ')} version ${what.version} at ${plain(what.url)}, data in ${plain(what.db)}`
    case 'stop':
      return `${colour.white('stop    ')} ${plain(what.reason)}, ${Math.round(what.ms)} ms`
    case 'migration':
      return `${colour.white('migrate ')} ${what.from === 0 ? 'a new database' : `from ${what.from}`} to ${what.to}`
    case 'administrator':
      return `${colour.white('admin   ')} ${plain(what.email)} is an administrator`
    case 'sign_in':
      return `${colour.white('sign-in ')} ${mark(what.outcome === 'signed_in')(what.outcome)} ${what.userId ?? 'nobody'} from ${what.address ?? 'here'}`
    case 'cut_off':
      return `${colour.yellow('cut off ')} ${what.reason.replaceAll('_', ' ')} ${what.address ?? ''}`
    case 'output':
      return colour.dim(`${what.agent} │ ${plain(what.line)}`)
    case 'clock':
      return `${colour.white('clock   ')} now ${what.now}`
    case 'info':
      return plain(what.message)
    case 'warning':
      return `${colour.yellow('warning ')} ${plain(what.message)}`
    case 'error':
      return `${colour.red('error   ')} ${plain(what.message)}`
  }
}

/** `buyer available → held`. If both accounts have the same owner, it is named once. */
function wayOf(from: string, to: string, names: Names): string {
  const [source, target] = [from, to].map(account => {
    const [kind = '', userId] = account.split(':')
    return { kind, owner: userId === undefined ? '' : `${names.get(userId) ?? tail(userId)} ` }
  }) as [Place, Place]
  const again = target.owner === source.owner ? '' : target.owner
  return `${source.owner}${source.kind} → ${again}${target.kind}`
}

interface Place {
  kind: string
  owner: string
}

/** The end of an id, enough to distinguish it. Programs get all of it. */
const tail = (id: string) => `…${id.slice(-6)}`

const indented = (text: string) =>
  text
    .split('\n')
    .map(line => `           ${plain(line)}`)
    .join('\n')
