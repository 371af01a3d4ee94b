/** The log of a simulator in words: what each entry says on the overview. */
import type { ComponentChildren } from 'preact'
import type { StampedEntry } from '../../market/log.ts'
import type { IconName } from '../parts/icons.tsx'
import { checkStates, type Tone, taskStates } from '../parts/states.tsx'
import { Text, units } from '../parts/words.tsx'
import { href } from '../router.ts'

/** An entry as it comes: its times are text. */
export type Entry = StampedEntry

/** Chips of the overview. `looks`: requests that only read. */
export type Sort = 'webhooks' | 'money' | 'tests' | 'looks' | 'other'

export interface Happening {
  readonly sort: Sort
  readonly isBad: boolean
  readonly tone: Tone | ''
  readonly icon: IconName | 'draft'
  readonly word: ComponentChildren
  readonly text?: ComponentChildren
  readonly ms?: number
  /** Somebody has to read it: it gets lines of its own. */
  readonly isSaid?: true
}

/** Names of what entries tell by id. */
export interface Names {
  agent(id: string | null): string
  task(id: string | null): string | undefined
}

const taskLink = (id: string | null, names: Names) =>
  id?.startsWith('task_') ? (
    <a class="go" href={href(`/tasks/${id}`)}>
      <Text>{names.task(id) ?? `${id.slice(0, 9)}…${id.slice(-4)}`}</Text>
    </a>
  ) : null

/** `available` of `available:usr_…` */
const accountOf = (account: string) => account.split(':')[0]

type Of<Type extends Entry['type']> = Extract<Entry, { type: Type }>
type Words = { readonly [Type in Entry['type']]?: (entry: Of<Type>, names: Names) => Happening | null }

const WORDS: Words = {
  request: ({ method, path, status, ms, error, own }) =>
    own ||
    path === '/api/auth/me' ||
    path.startsWith('/api/stream') ||
    path.startsWith('/api/dev/') ||
    path.startsWith('/api/agent/')
      ? null
      : {
          sort: method === 'GET' && status < 400 ? 'looks' : 'other',
          isBad: status >= 400,
          tone: status >= 400 ? 'bad' : '',
          icon: status >= 400 ? 'failed' : 'person',
          word: `${method} ${status}`,
          text: [path.split('?')[0], error].filter(Boolean).join(': '),
          ms,
        },
  webhook: ({ event, agentId, taskId, status, reason, outcome, attempt, ms }, names) => ({
    sort: 'webhooks',
    isBad: outcome !== 'delivered',
    tone: outcome === 'delivered' ? 'ok' : 'bad',
    icon: outcome === 'delivered' ? 'check' : 'failed',
    word: event,
    text: (
      <>
        to {names.agent(agentId)} <span class={outcome === 'delivered' ? '' : 'ink'}>{status ?? reason}</span>
        {attempt > 1 && ` · attempt ${attempt}`} · {taskLink(taskId, names)}
      </>
    ),
    ms,
  }),
  callback: ({ action, agentId, taskId, via, status, error, ms }, names) => ({
    sort: via === 'test' ? 'tests' : 'webhooks',
    isBad: status >= 400,
    tone: status >= 400 ? 'bad' : 'ok',
    icon: status >= 400 ? 'failed' : 'back',
    word: `${names.agent(agentId)}: ${action}`,
    text: (
      <>
        {status}
        {error && `, ${error}`} · {taskLink(taskId, names)}
      </>
    ),
    ms,
  }),
  money: ({ kind, amount, from, to, taskId }, names) => ({
    sort: 'money',
    isBad: false,
    tone: 'wait',
    icon: 'coin',
    word: <span class="n">{units(amount)}</span>,
    text: (
      <>
        {kind}: {accountOf(from)} to {accountOf(to)} {taskId && <>· {taskLink(taskId, names)}</>}
      </>
    ),
  }),
  task: ({ taskId, trigger, to }, names) => {
    const [tone, icon, word] = taskStates[to as keyof typeof taskStates]
    return {
      sort: 'other',
      isBad: trigger === 'dispute',
      tone: trigger === 'dispute' ? 'bad' : tone,
      icon: trigger === 'dispute' ? 'flag' : icon,
      word: trigger === 'dispute' ? 'In dispute' : word,
      text: taskLink(taskId, names),
    }
  },
  check: ({ agentId, name, status, message, durationMs }, names) => {
    const [tone, icon, word] = checkStates[status as keyof typeof checkStates]
    return {
      sort: 'tests',
      isBad: status === 'failed',
      tone,
      icon,
      word: `${names.agent(agentId)}: ${name} ${word.toLowerCase()}`,
      text: message,
      ms: durationMs,
    }
  },
  mail: ({ kind, outcome, reason, mail }) => ({
    sort: 'other',
    isBad: outcome === 'failed',
    tone: outcome === 'failed' ? 'bad' : '',
    icon: 'inbox',
    word: `Mail: ${kind}`,
    text: mail ? `to ${mail.to}` : (reason ?? outcome),
  }),
  persona: ({ message, taskId }, names) => ({
    sort: 'other',
    isBad: false,
    tone: '',
    icon: 'person',
    word: message,
    text: taskLink(taskId, names),
  }),
  fault: ({ fault, on, taskId }, names) => ({
    sort: 'webhooks',
    isBad: false,
    tone: 'wait',
    icon: 'bolt',
    word: fault,
    text: (
      <>
        met {on} · {taskLink(taskId, names)}
      </>
    ),
  }),
  clock: ({ now }) => ({
    sort: 'other',
    isBad: false,
    tone: '',
    icon: 'hour',
    word: 'The clock was moved',
    text: `to ${now}`,
  }),
  output: ({ agent, line, stream }) => ({
    sort: 'other',
    isBad: stream === 'stderr',
    tone: '',
    icon: 'agent',
    word: agent,
    text: <Text>{line}</Text>,
  }),
  info: ({ message }) => ({ sort: 'other', isBad: false, tone: '', icon: 'dash', word: <Text>{message}</Text> }),
  warning: ({ message, diagnosis, taskId }, names) => ({
    sort: 'other',
    isBad: true,
    tone: 'bad',
    icon: 'doctor',
    word: <Text>{diagnosis?.text ?? message}</Text>,
    text: (
      <>
        {diagnosis && <Text>{diagnosis.fix}</Text>} {taskId && taskLink(taskId, names)}
      </>
    ),
    isSaid: true,
  }),
  error: ({ message }) => ({
    sort: 'other',
    isBad: true,
    tone: 'bad',
    icon: 'failed',
    word: <Text>{message}</Text>,
    isSaid: true,
  }),
}

/** null: it is left out, as what the console itself asks for. */
export const inWords = (entry: Entry, names: Names): Happening | null =>
  (WORDS[entry.type] as ((entry: Entry, names: Names) => Happening | null) | undefined)?.(entry, names) ?? null
