/** Says each entry of the log in one line for people, and below a failure why it is one and which command helps. */
import { fixes } from '../../api/diagnosis/causes.ts'
import { type DiagnosisRecord, inWords } from '../../api/diagnosis/record.ts'
import { faults } from '../../api/faults.ts'
import type { CallbackEntry, StampedEntry } from '../../market/log.ts'
import { commandsIn } from '../connection/diagnosis.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { money, plain } from '../output/ui.ts'

export interface EntryLine {
  /** What it is about: a task, an agent. */
  readonly about: string | null
  readonly mark: string
  readonly what: string
  /** An HTTP status, or what stands for it; empty: `what` is a sentence. */
  readonly status: string
  readonly details: string
  readonly agentId: string | null
  readonly isFailure: boolean
  /** Nothing that anybody need look at. */
  readonly isQuiet: boolean
  /** What is wrong and what to do, as a part of what stands below it; empty if nothing is. */
  readonly why: string
  /** Below it: why it failed, or what a mail says. */
  readonly below: readonly string[]
  /** Below a failure: the command that helps. */
  readonly help: string | null
}

/** The mark of what an agent itself has printed. */
export const OUTPUT = '│'

/** Names of accounts and agents by id. */
export type Names = ReadonlyMap<string, string>

/** Returns the command that does what this endpoint does, without the program's name; undefined if there is none. */
export type CommandOf = (method: string, route: string) => string | undefined

type Entry<Type extends StampedEntry['type']> = Extract<StampedEntry, { type: Type }>

export const usual = {
  about: null,
  mark: '·',
  status: '',
  details: '',
  agentId: null,
  isFailure: false,
  isQuiet: false,
  why: '',
  below: [],
  help: null,
} as const

/** Returns null for an entry that another one says better. */
export function entryLine(entry: StampedEntry, names: Names, commandOf?: CommandOf): EntryLine | null {
  switch (entry.type) {
    case 'sending':
      return { ...usual, ...webhookOf(entry), status: '…', details: 'no answer yet' }
    case 'webhook':
      return webhookLine(entry, names)
    case 'callback':
      return callbackLine(entry, names)
    case 'request':
      return requestLine(entry, names, commandOf)
    case 'money':
      return {
        ...usual,
        about: entry.taskId,
        mark: '$',
        what: `${money(entry.amount)} ${wayOf(entry.from, entry.to, names)}`,
      }
    case 'task':
      return taskLine(entry)
    case 'check':
      return checkLine(entry, names)
    case 'fault':
      return { ...usual, about: entry.taskId, mark: '⚡', what: faultText(entry), agentId: entry.agentId }
    case 'persona':
      return { ...usual, about: entry.taskId, mark: '☺', what: plain(entry.message), agentId: entry.agentId }
    default:
      return sentence(entry, names)
  }
}

const faultText = ({ fault, on }: Entry<'fault'>) => `fault: ${fault}: ${plain(on)}: ${faults[fault].does}`

const webhookOf = ({ taskId, agentId, event, attempt }: Entry<'sending' | 'webhook'>) => ({
  about: taskId,
  agentId,
  mark: '→',
  what: attempt > 1 ? `${event} #${attempt}` : event,
})

function webhookLine(entry: Entry<'webhook'>, names: Names): EntryLine {
  const { status, reason, outcome, ms, diagnosis } = entry
  const isFailure = outcome !== 'delivered' && !diagnosis?.isMeant
  const said = entry.responseBody ?? ''
  // A page in the place of an agent says that the path or the port is another program's.
  const shown = isFailure || said.trimStart().startsWith('<') ? quoted(said, entry.responseBytes ?? 0) : ''
  const details = [`${ms} ms`, shown].filter(Boolean).join('  ')
  const line = { ...usual, ...webhookOf(entry), status: String(status ?? reason ?? ''), details, isFailure }
  if (!diagnosis && outcome === 'delivered') return line
  const other = outcome === 'failed' ? nextSteps.showDelivery(entry.deliveryId) : testOf(entry, names)
  const help = diagnosis ? helpIn(diagnosis, names) : other
  const why = wordsOf(entry)
  return { ...line, why, below: [outcome === 'delivered' ? why : `${why} ${whatNext(entry)}`], help }
}

/** An entry of a marketplace that makes no diagnosis says what it can. */
function wordsOf({ diagnosis, message, reason, status }: Entry<'webhook'>): string {
  if (diagnosis) return plain(inWords(diagnosis))
  return plain(
    status === null ? (message ?? `No answer: ${reason}.`) : `The agent answered ${status}; a 2xx is needed.`,
  )
}

/** The first command, with the name of the agent in the place of its id. */
function helpIn({ commands }: DiagnosisRecord, names: Names): string | null {
  const [command] = commandsIn({ commands })
  return command?.replace(/\bagt_[0-9a-f]{32}\b/, id => names.get(id) ?? id) ?? null
}

const whatNext = ({ nextAttemptAt, at }: Entry<'webhook'>) =>
  nextAttemptAt === null ? 'It is not sent again by itself.' : `Again in ${spanOf(Date.parse(nextAttemptAt) - at)}.`

function spanOf(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000))
  if (seconds < 100) return `${seconds} s`
  return seconds < 6_000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

function callbackLine(entry: CallbackEntry, names: Names): EntryLine {
  const { taskId: about, agentId, action, status, via, error, diagnosis, taskStatus, ms } = entry
  const how = via === 'test' ? 'of a test' : via === 'key' ? 'by key' : ''
  const details = [how, taskStatus?.replace('_', ' '), `${ms} ms`].filter(Boolean).join('  ')
  const isFailure = status >= 400 && !diagnosis?.isMeant
  const line = { ...usual, about, agentId, mark: '←', what: plain(action), status: String(status), details, isFailure }
  if (status < 400) return line
  const help = diagnosis ? helpIn(diagnosis, names) : testOf(entry, names)
  const why = plain(diagnosis ? inWords(diagnosis) : (error ?? ''))
  return { ...line, why, below: [why], help }
}

/** What an agent has answered has a line of its own, so only a request that was refused before its sender was known is shown. */
const ANSWER = /^\/api\/agent\/(?:tasks|test)\/:id\/(?:callback|accept|reject|deliver)$/

function requestLine(entry: Entry<'request'>, names: Names, commandOf: CommandOf = () => undefined): EntryLine | null {
  const { method, path, route, status, ms, error, hint = error, own, diagnosis, userId, refusal } = entry
  const isFailure = status >= 400
  const isSigned = route?.endsWith('/callback') ?? false
  if (isSigned && status < 500 && status !== 413) return null
  // A command says itself what became of what it asked for.
  if (own && method === 'GET' && status < 500) return null
  const isTold = !isFailure || (status < 500 && userId !== null && refusal !== undefined)
  if (isTold && ANSWER.test(route ?? '')) return null
  const line = {
    ...usual,
    about: idIn(path),
    what: plain(`${method} ${path.replace(ID, found => tail(found))}`),
    status: String(status),
    details: `${Math.round(ms)} ms`,
    isFailure,
  }
  if (!isFailure) return line
  if (diagnosis) return { ...line, below: [plain(inWords(diagnosis))], help: helpIn(diagnosis, names) }
  return { ...line, below: hint ? [plain(hint)] : [], help: own ? null : requestHelp(entry, commandOf) }
}

/** A command says itself what helps. What was sent by hand is told the command that does the same. */
function requestHelp({ method, path, route, status }: Entry<'request'>, commandOf: CommandOf): string | null {
  if (status === 401) return nextSteps.printEnvironment()
  if (status >= 500) return nextSteps.mend()
  if (route === null) return nextSteps.openapi()
  const task = /\btask_[0-9a-f]{32}\b/.exec(path)
  // Most often the task has gone on meanwhile; one that is unknown may be of `emit`, which makes its tasks up.
  if (task && route.startsWith('/api/agent/'))
    return status === 404 ? nextSteps.listTasks(' --as builder') : nextSteps.showTask(task[0], ' --as admin')
  return nextSteps.helpOf(commandOf(method, route) ?? 'call')
}

const ID = /\b[a-z]+_[0-9a-f]{32}\b/g
const idIn = (path: string) => path.match(ID)?.[0] ?? null

/** An accepted, rejected or delivered task is told by the agent's answer, or by the request of its builder. */
function taskLine({ taskId, trigger, from, to }: Entry<'task'>): EntryLine | null {
  if (['accept', 'reject', 'deliver'].includes(trigger)) return null
  const what = from === to ? trigger : `${trigger}: ${from ?? 'new'} → ${to}`
  return { ...usual, about: taskId, mark: '•', what: what.replaceAll('_', ' ') }
}

function checkLine(
  { agentId, check, name, status, message, diagnosis }: Entry<'check'>,
  names: Names,
): EntryLine | null {
  const isFailure = status === 'failed'
  // Signed rightly, and yet a real task would refuse it.
  const isWeak = status === 'warning' || message.includes('Warning:')
  const isLast = name === 'callback' && status === 'passed' && !isWeak
  if (!isFailure && !isWeak && !isLast) return null
  const mark = isFailure ? '✖' : isLast ? '✔' : '!'
  const help = isFailure ? ((diagnosis && helpIn(diagnosis, names)) ?? testOf({ agentId }, names)) : null
  const what = isLast ? 'connection test passed' : `check ${check}, ${name.replace('_', ' ')}: ${plain(message)}`
  // What is wrong with a signature was told before.
  const isTold = !diagnosis || (diagnosis.cause in fixes && diagnosis.cause !== 'refused_by_agent')
  return { ...usual, agentId, mark, what, isFailure, below: isTold ? [] : [plain(diagnosis.fix)], help }
}

function sentence(entry: StampedEntry, names: Names): EntryLine {
  const say = (what: string, mark = '·', isFailure = false): EntryLine => ({
    ...usual,
    mark,
    what: plain(what).trimEnd(),
    isFailure,
    help: isFailure ? nextSteps.mend() : null,
  })
  switch (entry.type) {
    case 'mail': {
      const { mail, kind, outcome, reason } = entry
      if (!mail) return say(`mail ${kind}: ${outcome} ${reason ?? ''}`, '✉', outcome === 'failed')
      return { ...say(`mail to ${mail.to}: ${mail.subject}`, '✉'), below: mail.text.split('\n').map(plain) }
    }
    case 'start':
      return say(`version ${entry.version} at ${entry.url}, data in ${entry.db}`)
    case 'stop':
      return say(`stopped: ${entry.reason}, ${Math.round(entry.ms)} ms`)
    case 'migration':
      return say(`migrated ${entry.from === 0 ? 'a new database' : `from ${entry.from}`} to ${entry.to}`)
    case 'administrator':
      return say(`${entry.email} is an administrator`)
    case 'sign_in':
      return say(
        `sign-in ${entry.outcome.replaceAll('_', ' ')}: ${entry.userId ?? 'nobody'} from ${entry.address ?? 'here'}`,
      )
    case 'cut_off':
      return say(`cut off: ${entry.reason.replaceAll('_', ' ')} ${entry.address ?? ''}`, '!')
    case 'output':
      return say(`${entry.agent}  ${entry.line}`, OUTPUT)
    case 'clock':
      return say(`the clock says ${entry.now}`)
    case 'info':
      return say(entry.message)
    case 'warning':
      return {
        ...say(entry.message, '!'),
        ...{ agentId: entry.agentId ?? null, about: entry.taskId ?? null },
        help: entry.diagnosis ? helpIn(entry.diagnosis, names) : null,
      }
    case 'error':
      return say(entry.message, '✖', true)
    default:
      return say(entry.type)
  }
}

/** null: there is no such task or test, so nobody knows which agent it was. */
const testOf = ({ agentId }: { agentId: string | null }, names: Names) =>
  agentId === null ? nextSteps.listAgents(' --as builder') : nextSteps.testConnection(names.get(agentId) ?? agentId)

const QUOTED = 24

/** The beginning of a response on one line, and how long it is: `“<html>…” 1.2 KB`. */
function quoted(body: string, bytes: number): string {
  const text = plain(body).replaceAll('\ufffd', '.').replace(/\s+/g, ' ').trim()
  if (bytes === 0) return ''
  const size = bytes < 1_000 ? `${bytes} bytes` : `${(bytes / 1_000).toFixed(1)} KB`
  return `“${text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text}” ${size}`
}

/** `buyer available → held`. If both accounts have the same owner, it is named once. */
function wayOf(from: string, to: string, names: Names): string {
  const [source, target] = [from, to].map(account => {
    const [kind = '', userId] = account.split(':')
    return { kind, owner: userId === undefined ? '' : `${names.get(userId) ?? tail(userId)} ` }
  }) as [Wallet, Wallet]
  const again = target.owner === source.owner ? '' : target.owner
  return `${source.owner}${source.kind} → ${again}${target.kind}`
}

interface Wallet {
  kind: string
  owner: string
}

/** The end of an id, enough to distinguish it. Programs get all of it. */
export const tail = (id: string) => `…${id.slice(-6)}`
