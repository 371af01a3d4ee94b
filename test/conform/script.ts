/** What a run does to an agent, by the labels of its tasks: of two runs with the same agent it is the same, whatever the machine does. */
import { bytesOf, type History, type Recorded, type Recordeds } from '../../src/conform/history/history.ts'

type Webhook = Recordeds<'webhook'>

/** What a machine makes of the time of a signature is less; what is no time is more. */
const [OFFSET_MS, MOST_MS] = [15_000, 1e9]
/** Whoever makes a connection by itself sends none of these. */
const ofConnection = ['accept-encoding', 'connection', 'host']

/** `races`: whoever is quicker there, the agent or the buyer, decides what comes. */
export function scriptOf(history: History, races: readonly string[]): string {
  const labels = new Map(history.of('task').map(({ taskId, label }) => [taskId, label]))
  const usual = history.webhooks('first-task').slice(0, 1).flatMap(namesOf)
  const [done, counts] = [new Map<string, Set<string>>(), new Map<string, number>()]
  for (const event of history.events) {
    const label = 'label' in event ? event.label : 'taskId' in event ? labels.get(event.taskId ?? '') : 'the run'
    const named = label?.replace(/\btask_\w+$/, id => labels.get(id)!) ?? 'the run'
    const place = `${event.lane === 'clock' ? 'by the clock: ' : ''}${named}`
    const line = event.kind === 'webhook' ? webhookInWords(event, usual) : inWords(event)
    if (line === null || (races.some(race => named.endsWith(race)) && event.kind !== 'task')) continue
    done.set(place, (done.get(place) ?? new Set()).add(line))
    counts.set(`${place} ${line}`, (counts.get(`${place} ${line}`) ?? 0) + 1)
  }
  // A marketplace repeats webhooks, and an agent its callbacks.
  const counted = (place: string) => (line: string) => {
    const count = /^[←→“]|^process/.test(line) ? 1 : counts.get(`${place} ${line}`)!
    return `  ${line}${count > 1 ? `, ${count} times` : ''}\n`
  }
  return [...done]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([place, lines]) => `${place}\n${[...lines].sort().map(counted(place)).join('')}`)
    .join('')
}

/** null: it is no part of what is done. */
function inWords(event: Recorded): string | null {
  switch (event.kind) {
    case 'task':
      return `a task, ${event.sample}, for ${event.price}${event.canary === '' ? ', as others are' : ''}`
    case 'callback':
      return event.fault && `← ${event.action} meets: ${event.fault.name}`
    case 'step':
      return `${event.trigger}: ${event.from ?? 'nothing'} → ${event.to}`
    case 'money':
      return `${event.move} ${event.amount}: ${event.from.split(':', 1)} → ${event.to.split(':', 1)}`
    case 'observation':
      return 'is looked at'
    case 'scenario':
      return `“${event.scenario}” is ${[event.outcome, event.why].filter(Boolean).join(': ')}`
    case 'process':
      return `process: ${event.what}${event.what === 'killed' || event.what === 'ended' ? ` ${event.text}` : ''}`
    case 'unused':
      return `${event.fault} met nothing`
    case 'quiet':
      return 'nothing is sent for a while'
    default:
      return null
  }
}

/** Of what comes with it: what others do not have, and the other way round. */
function webhookInWords(webhook: Webhook, usual: readonly string[]): string {
  const { event, method, attempt, change, genuine, headers, body } = webhook
  const names = namesOf(webhook)
  const [more, less] = [names.filter(name => !usual.includes(name)), usual.filter(name => !names.includes(name))]
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'none'
  return [
    `→ ${event ?? method}`,
    change !== null && `changed: ${change}`,
    !genuine && 'not genuine',
    attempt !== null && attempt > 1 && 'again',
    more.length > 0 && `with ${more.join(' ')}`,
    less.length > 0 && `without ${less.join(' ')}`,
    type !== 'application/json' && `of ${type}`,
    signedBefore(webhook),
    ...(event === null ? [] : dataInWords(bytesOf(body), body.size)),
  ]
    .filter(Boolean)
    .join(', ')
}

const namesOf = ({ headers }: Webhook) =>
  [...new Set(headers.map(([name]) => name.toLowerCase()))].filter(name => !ofConnection.includes(name)).sort()

function signedBefore({ headers, realAt, ms }: Webhook): string | false {
  const signed = Number(headers.find(([name]) => name.toLowerCase() === 'x-service-timestamp')?.[1])
  const times = Math.round((realAt - ms - signed) / OFFSET_MS)
  return times !== 0 && Math.abs(times) < MOST_MS / OFFSET_MS && `signed ${(times * OFFSET_MS) / 1_000} s before`
}

/** What its buyer says, and who that is. */
function dataInWords(kept: Buffer, size: number): string[] {
  if (kept.length < size) return ['longer than what is kept']
  const { title = '', description = '', requirements = '', requestor = {}, ...data } = JSON.parse(kept.toString()).data
  const sizes = [title, description, requirements].map(words => [...String(words)].length)
  const said = [data.message, data.reason, data.revisionReason].filter(words => typeof words === 'string')
  return [
    `${sizes.join(' + ')} letters`,
    `${requestor.type} ${requestor.trustTier}`,
    ...said.map(words => `“${words}”`),
  ]
}
