/** `marketplace exchanges list | show | replay`: what went over the wire between a simulator and its agents. Source: A-288. */
import type { ExchangeDetails, ExchangeRecord } from '../../api/exchange-records.ts'
import type { AgentEvent } from '../../api/flow.ts'
import { createClient } from '../../client/typed-client.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { type ConnectionFlags, onSimulator } from '../connection/connection.ts'
import { diagnosisLines } from '../connection/diagnosis.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { locate } from '../connection/target.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { taskCalled } from '../endpoint/whole-id.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { noneOf } from '../output/empty-list.ts'
import { jsonText } from '../output/json-text.ts'
import { durationGiven } from '../output/numbers.ts'
import { plain, printBytes, type Ui } from '../output/ui.ts'

const WHY_NOT = 'records no exchanges: only a simulator does'

export interface ExchangeListFlags extends ConnectionFlags {
  failed?: boolean
  all?: boolean
  task?: string
  agent?: string
  event?: string
  status?: string
  delivery?: string
  since?: string
  limit?: string
}

export function list(flags: ExchangeListFlags): Promise<number> {
  const limit = numberGiven('--limit', flags.limit ?? '20', [1, 100])
  const { failed, all, task: taskId, agent, event, status, delivery: deliveryId, since } = flags
  const sinceMs = since === undefined ? null : durationGiven(since)
  return onSimulator(flags, WHY_NOT, async connection => {
    const { client, out, notes, answer } = connection
    const agentId = agent === undefined ? undefined : (await agentCalled(connection, agent)).id
    const asked = {
      limit,
      ...(failed && { failed: 'true' as const }),
      ...(all && { meant: 'true' as const }),
      ...(taskId !== undefined && { taskId: await taskCalled(connection, taskId, 'adminListTasks') }),
      ...(agentId !== undefined && { agentId }),
      // The marketplace says which events there are.
      ...(event !== undefined && { event: event as AgentEvent }),
      ...(status !== undefined && { status }),
      ...(deliveryId !== undefined && { deliveryId }),
      ...(sinceMs !== null && { since: new Date(Date.parse((await client.getClock()).now) - sinceMs).toISOString() }),
    }
    const { items } = await client.listExchanges(asked)
    return answer({ items }, () => {
      if (items.length === 0)
        return notes.line(noneOf({ things: 'exchanges', filters: filtersOf(flags), all: nextSteps.exchanges() }))
      const rows = items.map(item => rowOf(out, item))
      out.list(['ID', 'AT', 'WHAT', 'STATUS', 'MS', 'TASK', 'CAUSE'], rows)
      const failing = items.find(({ diagnosis }) => diagnosis !== null)
      if (failing) notes.line(`One of them, byte for byte: ${nextSteps.showExchange(failing.id)}`)
    })
  })
}

const filtersOf = ({ failed, ...flags }: ExchangeListFlags) => [
  ...(failed ? ['--failed'] : []),
  ...(['task', 'agent', 'event', 'status', 'delivery', 'since'] as const).flatMap(name =>
    flags[name] === undefined ? [] : [`--${name} ${plain(flags[name])}`],
  ),
]

const isWell = ({ status }: ExchangeRecord) => status !== null && status >= 200 && status < 300

function rowOf({ colour }: Ui, exchange: ExchangeRecord): string[] {
  const { id, direction, status, error, ms, taskId, diagnosis, at } = exchange
  const result = String(status ?? 'none')
  return [
    id,
    at.slice(11, 19),
    direction === 'webhook' ? '→ webhook' : '← callback',
    (isWell(exchange) ? colour.green : colour.red)(result),
    String(ms),
    taskId ?? '-',
    diagnosis?.cause.replaceAll('_', ' ') ?? (status === null ? plain(error ?? '') : ''),
  ]
}

export interface ExchangeShowFlags extends ConnectionFlags {
  raw?: boolean
}

/** `--raw`: the bytes of the request, and nothing else. */
export const show = (id: string, flags: ExchangeShowFlags) =>
  onSimulator(flags, WHY_NOT, async ({ client, out, notes, answer }) => {
    const exchange = await client.getExchange({ id })
    if (flags.raw) {
      printBytes(bytesOf(exchange.requestBody))
      return exitCodes.ok
    }
    return answer(exchange, () => {
      const { method, url, status, error, ms, at, direction } = exchange
      out.raw(out.colour.dim(`${exchange.id}: a ${direction}, ${at}`))
      out.raw(out.colour.bold(`${method} ${plain(url)}`))
      message(out, exchange.requestHeaders, exchange.requestBody)
      out.raw(
        `\n${out.colour.bold(status === null ? plain(error ?? 'no response') : String(status))}  ${out.colour.dim(`${ms} ms`)}`,
      )
      message(out, exchange.responseHeaders, exchange.responseBody)
      for (const line of exchange.diagnosis ? diagnosisLines(exchange.diagnosis) : []) notes.line(line)
    })
  })

type Body = ExchangeDetails['requestBody']

const bytesOf = ({ encoding, content }: Body) => Buffer.from(content, encoding === 'text' ? 'utf8' : 'base64')

function message(out: Ui, headers: ExchangeDetails['requestHeaders'], body: Body): void {
  for (const { name, value } of headers) out.raw(`${out.colour.cyan(plain(name))}: ${plain(value)}`)
  out.raw('')
  if (body.encoding === 'base64')
    out.raw(out.colour.dim(`${body.bytes} bytes that are no UTF-8, as base64: ${body.content}`))
  else if (body.content !== '') out.raw(jsonText(out, body.content))
  if (body.cut) out.raw(out.colour.dim('Only the beginning is kept.'))
}

/** A webhook is signed and sent anew; a signed callback goes to the marketplace once more, byte for byte. */
export const replay = (id: string, flags: ConnectionFlags) =>
  onSimulator(flags, WHY_NOT, async ({ client, out, answer, found, transport }) => {
    const exchange = await client.getExchange({ id })
    const { direction, agentId, deliveryId, taskId, requestHeaders } = exchange
    if (direction === 'webhook') {
      if (!deliveryId || !agentId || taskId?.startsWith('test_'))
        throw new Fault(`${id} is the webhook of a connection test`, {
          code: exitCodes.failed,
          hint: `Make another: ${nextSteps.testConnection(agentId ?? '')}`,
        })
      const { key: apiKey } = locate({ url: found.url, as: 'builder' }, 'builder')
      const made = await createClient({ baseUrl: found.url, apiKey }).redeliver({ id: agentId, deliveryId })
      return answer(made, () => out.line(`It goes out again as ${made.id}: ${nextSteps.showDelivery(made.id)}`))
    }
    if (requestHeaders.some(({ name }) => /^(?:authorization|cookie)$/i.test(name)))
      throw new Fault(`${id} was sent with a key, which is not recorded`, {
        code: exitCodes.failed,
        hint: `Its bytes: ${nextSteps.showExchange(id)}`,
      })
    if (exchange.requestBody.encoding !== 'text' || exchange.requestBody.cut)
      throw new Fault(`${id} has a body that can't be sent as text`, {
        code: exitCodes.failed,
        hint: `Its bytes: ${nextSteps.showExchange(id)} --raw`,
      })
    const kept = requestHeaders.filter(({ name }) => /^(?:x-service-|content-type$)/i.test(name))
    const headers = Object.fromEntries(kept.map(({ name, value }) => [name.toLowerCase(), value]))
    const { pathname, search } = new URL(exchange.url)
    const sending = { body: exchange.requestBody.content, headers, by: 'nobody' as const }
    const reply = await transport.send('POST', pathname + search, sending)
    const text = await reply.text()
    answer({ status: reply.status, body: text }, () => out.raw(`${reply.status} ${jsonText(out, text)}`))
    return reply.ok ? exitCodes.ok : exitCodes.failed
  })
