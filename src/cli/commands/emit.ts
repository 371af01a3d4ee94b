/** `marketplace emit`: sends one signed webhook to an agent, without a marketplace. */
import type { EventName } from '../../api/events.ts'
import { answerBytes, durations } from '../../api/limits.ts'
import { signatureHeaders, standardHeaders } from '../../api/signature.ts'
import { environment, UsageError } from '../../config.ts'
import { eventNames, sampleEvent } from '../../sim/sample-event.ts'
import { createWorld } from '../../world/real.ts'
import type { OutgoingFailure, OutgoingResult } from '../../world/world.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { jsonGiven } from '../json-input.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output.ts'
import { plain } from '../ui.ts'

export interface EmitFlags extends AnswerFlags {
  to?: string
  secret?: string
  callbackUrl?: string
  data?: string
}

/** Exits with 0 for a 2xx response, with 1 for any other, and with 5 if there is none. */
export async function emit(name: string, flags: EmitFlags): Promise<number> {
  const event = eventNamed(name)
  const to = urlGiven('--to', flags.to ?? '')
  const secret = flags.secret ?? environment().MARKETPLACE_WEBHOOK_SECRET
  if (!secret) {
    throw new UsageError(
      "emit signs with the agent's webhook secret: give --secret whsec_… or MARKETPLACE_WEBHOOK_SECRET.",
    )
  }
  const callbackUrl = flags.callbackUrl === undefined ? undefined : urlGiven('--callback-url', flags.callbackUrl)
  const changes = flags.data === undefined ? {} : objectOf(await jsonGiven('--data', flags.data))
  return withOutput(flags, output => send(output, { event, to, secret, callbackUrl, changes }))
}

interface Emission {
  event: EventName
  to: string
  secret: string
  callbackUrl: string | undefined
  changes: Record<string, unknown>
}

// The discard port of this machine, where nothing listens.
const NOBODY = 'http://127.0.0.1:9'

async function send(output: CommandOutput, { event, to, secret, callbackUrl, changes }: Emission): Promise<number> {
  const world = createWorld({ requireHttps: false, allowLoopback: true })
  const sentAt = world.realNow()
  const taskId = world.id('task')
  const deliveryId = world.id('dlv')
  const given = { taskId, callbackUrl: callbackUrl ?? `${NOBODY}/api/agent/tasks/${taskId}/callback` }
  const body = JSON.stringify(sampleEvent(event, { ...given, timestamp: new Date(sentAt).toISOString() }, changes))
  try {
    const result = await world.egress.post({
      url: to,
      body,
      headers: {
        'content-type': 'application/json',
        ...signatureHeaders(secret, sentAt, body),
        ...standardHeaders(secret, deliveryId, sentAt, body),
        'X-Service-Delivery-Id': deliveryId,
        'X-Service-Attempt': '1',
      },
      timeoutMs: durations.webhookTimeoutMs,
      maxAnswerBytes: answerBytes,
    })
    return tell(output, result, to, { event, taskId, noCallback: callbackUrl === undefined })
  } finally {
    await world.egress.close()
  }
}

interface Sent {
  event: EventName
  taskId: string
  noCallback: boolean
}

function tell({ out, notes, answer }: CommandOutput, result: OutgoingResult, to: string, sent: Sent): number {
  if (!result.ok) throw unanswered(result, to)
  const { status, body, durationMs } = result
  const isWell = status >= 200 && status < 300
  const { event, taskId, noCallback } = sent
  answer({ event, taskId, to, status, body, durationMs }, () => {
    out.line(`${(isWell ? out.colour.green : out.colour.red)(String(status))} ${plain(body)}`.trimEnd())
    notes.line(notes.colour.dim(`${event} for ${taskId} was answered in ${durationMs} ms`))
    if (status === 401)
      notes.line('The agent did not accept the signature: does it know this very secret, whsec_ included?')
    if (noCallback) notes.line(notes.colour.dim('Its callbackUrl leads nowhere; --callback-url names one.'))
  })
  return isWell ? exitCodes.ok : exitCodes.failed
}

const unusable: readonly OutgoingFailure[] = ['bad_url', 'private_address']

function unanswered({ reason, message }: { reason: OutgoingFailure; message: string }, to: string): Fault {
  const code = unusable.includes(reason) ? exitCodes.usage : exitCodes.network
  const hints: Partial<Record<OutgoingFailure, string>> = {
    refused: 'Is the agent running, and on this port?',
    tls: 'On this machine http:// will do.',
  }
  return new Fault(`No answer from ${to}: ${message}`, { code, hint: hints[reason] })
}

function eventNamed(name: string): EventName {
  const event = eventNames.find(known => known === name || known === `task.${name}`)
  if (event) return event
  throw new UsageError(`There is no event ${name}. The events: ${eventNames.join(', ')}.`)
}

function urlGiven(flag: string, text: string): string {
  if (URL.canParse(text) && /^https?:\/\//i.test(text)) return text
  throw new UsageError(`${flag} takes an address like http://127.0.0.1:3000/webhook${text ? `, not ${text}` : ''}.`)
}

function objectOf(text: string): Record<string, unknown> {
  const value = JSON.parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new UsageError(
    `--data takes a JSON object: fields of data and what they are to be, like '{"agreedPrice": 900}'.`,
  )
}
