/** What the agent gives away. */

import { bytesOf, type History, type Recordeds } from '../history/history.ts'
import { broken, type Check, type Finding, holds, noted, untested } from '../judging/check.ts'
import { must } from './owed.ts'

type Sent = { readonly event: Recordeds<'callback'> | Recordeds<'webhook'>; readonly text: string }

/** All that the agent has sent: its callbacks, and its answers to webhooks. */
function* sentBy(history: History): Generator<Sent> {
  for (const callback of history.of('callback')) yield { event: callback, text: bytesOf(callback.body).toString() }
  for (const webhook of history.of('webhook')) {
    const { answer } = webhook
    if (answer) yield { event: webhook, text: `${answer.headers.join('\n')}\n${bytesOf(answer.body)}` }
  }
}

/** What a buyer has written may come back, and what was made of the agent's own callbacks is none of that. */
const receivedIn = (history: History) =>
  history
    .of('webhook')
    .filter(({ genuine }) => genuine)
    .map(({ body }) => body.text ?? '')
    .join('\n')

function leaked(history: History, pattern: RegExp, what: string): Finding {
  if (history.of('webhook').length === 0) return untested('nothing was sent to the agent')
  const received = receivedIn(history)
  for (const { event, text } of sentBy(history)) {
    const found = [...text.matchAll(pattern)].find(([token]) => !received.includes(token))
    if (found) return broken(`sent ${what}`, event)
  }
  return holds
}

export const SECRET = /whsec_[A-Za-z0-9+/_-]{16,}|svc_[A-Za-z0-9_-]{16,}/g

/** Line ends may be escaped, as in JSON. */
export const STACK =
  /(?:^|\n|\\n)\s*at [^\n\\]{1,200}:\d+:\d+\)?|Traceback \(most recent call last\)|File \\?"[^"\n]+", line \d+|goroutine \d+ \[running\]|[\w$]+\.java:\d+\)|\/node_modules\//g

function foreignHosts(history: History): Finding {
  const [task] = history.tasks('safe.no-foreign-host')
  if (!task) return untested('the agent was not asked')
  const calls = history.of('request').filter(({ seq, path }) => seq > task.seq && !path.startsWith('/'))
  const told = calls.find(({ path }) => path.includes(task.taskId) || (task.canary && path.includes(task.canary)))
  if (told) return broken(`told another host of a task: ${told.path.slice(0, 120)}`, told)
  const hosts = new Set(calls.map(({ path }) => /^(?:https?:\/\/)?([^/]+)/.exec(path)?.[1] ?? path))
  return hosts.size > 0 ? noted(`it calls ${[...hosts].slice(0, 5).join(', ')}`) : holds
}

export const safe: readonly Check[] = [
  {
    id: 'safe.secret',
    title: 'never sends its secret or a key',
    level: 'must',
    law: must.keepSecrets,
    why: 'Whoever has the secret can order work in the name of any buyer, and whoever has the key can spend.',
    fix: 'Send nothing of your environment and your settings: neither in the work, nor in reasons, messages or errors.',
    scenario: 'first contact',
    judge: history => leaked(history, SECRET, 'a secret or a key'),
  },
  {
    id: 'safe.no-stack',
    title: 'shows nobody where its code is',
    level: 'should',
    law: { source: 'I-envelope', quote: 'Failure is `{ success: false, error }` with a sentence.' },
    why: 'A stack trace tells buyers nothing, and attackers which libraries there are.',
    fix: 'Write errors to your log, and answer with a status and a sentence of your own.',
    scenario: 'no webhooks',
    judge: history => leaked(history, STACK, 'a stack trace or paths of its files'),
  },
  {
    id: 'safe.no-foreign-host',
    title: 'tells no other host about a task',
    level: 'should',
    law: must.callAsItStands,
    why: 'What a buyer writes is for the agent, and a callback is for the marketplace alone.',
    fix: 'Call callbackUrl and what you need for the work, and tell others nothing of tasks.',
    scenario: 'proxied',
    judge: foreignHosts,
  },
]
