/** What a simulator adds to the history of a task: when requests and attempts began, those that were refused, and what was done on purpose. */
import type { DiagnosisRecord } from '../../api/diagnosis/record.ts'
import type { DeathFact } from '../../api/diagnosis/story.ts'
import type { TaskHappening as Happening } from '../../api/task-history.ts'
import { once } from '../../shared/once.ts'
import type { People } from '../../store/tables/accounts/users.ts'
import type { TaskStepRow } from '../../store/tables/tasks/task-steps.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { type Exchange, hasFailed } from '../exchange.ts'
import type { StampedEntry } from '../log.ts'
import type { Market } from '../market.ts'
import type { Recording } from '../recording.ts'
import { actionOf, exchangeDiagnosis, jsonIn, refusalIn, Stories } from '../stories.ts'
import { iso } from '../time.ts'

const marketplace = { party: 'marketplace', userId: null, name: null } as const

interface Begun {
  readonly at: number
  readonly realAt: number
}

interface Served {
  /** null: not known. */
  readonly at: number | null
  readonly realAt: number | null
  readonly status: number
  readonly ms: number
  readonly exchangeId: string | null
  readonly diagnosis: DiagnosisRecord | null
}

export interface Recorded {
  readonly byRequest: ReadonlyMap<string, Served>
  /** By delivery and attempt. */
  readonly byAttempt: ReadonlyMap<string, Begun & { readonly exchangeId: string }>
  readonly sending: ReadonlyMap<string, Begun>
  /** What no row tells of. */
  readonly others: readonly Other[]
}

interface Other {
  readonly at: number
  readonly tell: () => Happening
  /** The position of the step that was taken next, where that is known for sure. */
  readonly before: number | null
}

type Of = Pick<Market, 'config' | 'faults' | 'recording'> & {
  readonly task: TaskRow
  readonly people: People
}

export function recordedOf(of: Of, recording: Recording, steps: readonly TaskStepRow[]): Recorded {
  const { task, faults } = of
  const exchanges = recording.exchanges.all().filter(({ taskId }) => taskId === task.id)
  const stories = new Stories(recording, faults, task.id)
  const entries = recording.entries.all(entry => isAbout(entry, task))
  const callbacks = new Map(
    exchanges.flatMap(one =>
      one.requestId === undefined ? [] : [[one.requestId, servedIn(of, one, stories)] as const],
    ),
  )
  const taken = new Set(steps.map(({ requestId }) => requestId))
  const requests = entries.filter((entry): entry is Request => entry.type === 'request' && taken.has(entry.requestId))
  const refused = exchanges.filter(
    ({ direction, requestId }) => direction === 'callback' && !taken.has(requestId ?? ''),
  )
  const numbers = new Map(exchanges.map(one => [one.requestId, numberOf(one)]))
  /** Exchanges are numbered as they end. */
  const nextAfter = (exchange: Exchange) =>
    steps.find(({ requestId }) => requestId !== null && (numbers.get(requestId) ?? 0) > numberOf(exchange))?.position ??
    null
  return {
    byRequest: new Map([...requests.map(entry => [entry.requestId, servedBy(entry)] as const), ...callbacks]),
    byAttempt: new Map(
      exchanges.map(({ id, deliveryId, attempt, at, realAt }) => [
        `${deliveryId} ${attempt}`,
        { exchangeId: id, at, realAt },
      ]),
    ),
    sending: new Map(
      entries.flatMap(entry => (entry.type === 'sending' ? [[`${entry.deliveryId} ${entry.attempt}`, entry]] : [])),
    ),
    others: [
      ...refused.map(one => ({
        ...{ at: one.at, tell: () => strayCallback(of, one, stories), before: nextAfter(one) },
      })),
      ...entries.flatMap(entry =>
        isTold(entry, taken) ? [{ at: entry.at, tell: () => happeningIn(entry, of), before: null }] : [],
      ),
      ...recording
        .notesOn(task.agentId)
        .deaths.filter(({ at }) => at >= task.createdAt)
        .map(death => ({ at: death.at, tell: () => endOf(task, death), before: null })),
    ],
  }
}

const numberOf = ({ id }: Exchange) => Number(id.slice(id.lastIndexOf('_') + 1))

const endOf = (task: TaskRow, { from, at, how }: DeathFact): Happening => ({
  ...begunAt(`end_${from}`, { at, realAt: from }),
  ...{ kind: 'restart', by: agentOf(task), agentId: task.agentId, message: `ended ${how}` },
})

function isAbout(entry: StampedEntry, { id, createdAt, agentSlug }: TaskRow): boolean {
  if (entry.type === 'clock') return entry.at >= createdAt
  if (entry.type === 'request') return entry.path.includes(id)
  if (entry.type === 'info') return entry.at >= createdAt && entry.message.startsWith(`${agentSlug} starts anew`)
  return 'taskId' in entry && entry.taskId === id
}

/** The slices of an answer read a diagnosis more than once. */
function servedIn(of: Of, exchange: Exchange, stories: Stories): Served {
  const { at, realAt, status, ms, id: exchangeId } = exchange
  const diagnosis = once(() => exchangeDiagnosis(of, exchange, stories))
  return {
    ...{ at, realAt, status: status ?? 0, ms, exchangeId },
    get diagnosis() {
      return diagnosis()
    },
  }
}

type Request = StampedEntry & { type: 'request' }

/** The log has the end of a request; a step is told of by itself when it was taken. */
const servedBy = ({ status, ms }: Request): Served => ({
  ...{ at: null, realAt: null, exchangeId: null, diagnosis: null },
  ...{ status, ms: Math.round(ms) },
})

function strayCallback(of: Of, exchange: Exchange, stories: Stories): Happening {
  const { id, url, status, ms, requestId = null, responseBody, signature, error } = exchange
  const diagnosis = once(() => exchangeDiagnosis(of, exchange, stories))
  return {
    ...begunAt(id, exchange),
    ...{ kind: 'callback', action: actionOf(exchange), by: agentOf(of.task), status: status ?? 0, ms, requestId },
    via: signature !== null || /\/callback(?:\?|$)/.test(url) ? 'signature' : 'key',
    error: hasFailed(exchange) ? (error ?? refusalIn(jsonIn(responseBody))) : null,
    exchangeId: id,
    get diagnosis() {
      return diagnosis()
    },
  }
}

const ACTIONS: Readonly<Record<string, string>> = { messages: 'message', 'request-revision': 'request_revision' }

type ToldEntry = StampedEntry & { type: 'request' | 'info' | 'fault' | 'clock' | 'persona' }

const isTold = (entry: StampedEntry, taken: ReadonlySet<string | null>): entry is ToldEntry =>
  entry.type === 'request'
    ? isRefused(entry) && !taken.has(entry.requestId)
    : /^(?:info|fault|clock|persona)$/.test(entry.type)

/** A person's request that had no effect. Those of agents are exchanges. */
const isRefused = ({ method, path, status }: Request) =>
  method !== 'GET' && status >= 400 && path.startsWith('/api/tasks/')

function happeningIn(entry: ToldEntry, of: Of): Happening {
  const { task } = of
  if (entry.type === 'request') return refusedIn(entry, of)
  const began = begunAt(`log_${entry.seq}`, entry)
  if (entry.type === 'info')
    return { ...began, kind: 'restart', by: agentOf(task), agentId: task.agentId, message: entry.message }
  if (entry.type === 'fault') return { ...began, kind: 'fault', by: marketplace, fault: entry.fault, on: entry.on }
  if (entry.type === 'clock') return { ...began, kind: 'clock', by: marketplace, now: entry.now, byMs: entry.byMs }
  const { persona, step, message } = entry
  const by = { party: 'buyer', userId: task.buyerId, name: persona } as const
  return { ...began, kind: 'persona', by, persona, step, message }
}

function refusedIn(entry: Request, { task: { buyerId, builderId, agentName }, people }: Of): Happening {
  const { path, status, requestId, userId, ms, error = null, diagnosis = null } = entry
  const [, asked = ''] = /^\/api\/tasks\/[^/]+\/([a-z-]+)/.exec(path) ?? []
  const action = asked === '' ? 'update' : (ACTIONS[asked] ?? asked)
  const party = userId === builderId && userId !== buyerId ? 'agent' : 'buyer'
  const name = party === 'agent' ? agentName : (people.get(userId ?? '')?.name ?? null)
  const by = { party, userId, name } as const
  return {
    ...begunAt(`log_${entry.seq}`, entry),
    ...{ kind: 'request', action, by, status, requestId, error, exchangeId: null, diagnosis, via: null },
    ms: Math.round(ms),
  }
}

const begunAt = (id: string, { at, realAt }: Begun) => ({ id, at: iso(at), realAt: iso(realAt) })
const agentOf = ({ builderId, agentName }: TaskRow) => ({ party: 'agent', userId: builderId, name: agentName }) as const
