/** Shows what a simulator has recorded. Source: A-238. */
import { isUtf8 } from 'node:buffer'
import { NOWHERE } from '../../api/diagnosis/responses.ts'
import type { ExchangeDetails, ExchangeRecord } from '../../api/exchange-records.ts'
import { refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import { EventStream } from '../../api/reply.ts'
import type { HeaderLines } from '../../world/header-lines.ts'
import { type Exchange, hasFailed } from '../exchange.ts'
import type { Market } from '../market.ts'
import type { Recording } from '../recording.ts'
import { actionOf, eventOf, exchangeDiagnosis, Stories } from '../stories.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'
import { formsOfExchange } from '../webhooks/diagnosis.ts'

function recordingOf({ recording }: Pick<Market, 'recording'>): Recording {
  if (!recording) throw new Error('A deployment records nothing')
  return recording
}

const listExchanges: Verb<'listExchanges'> = async (ctx, { query }) => {
  const { taskId, agentId, failed, meant, event, status, deliveryId, since, page, limit } = query
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const isWanted = (exchange: Exchange) =>
    (taskId === undefined || exchange.taskId === taskId) &&
    (agentId === undefined || exchange.agentId === agentId) &&
    (deliveryId === undefined || exchange.deliveryId === deliveryId) &&
    (failed === undefined || hasFailed(exchange) === (failed === 'true')) &&
    (failed !== 'true' || meant === 'true' || exchange.url !== NOWHERE) &&
    (status === undefined || String(exchange.status ?? 'none') === status) &&
    exchange.at >= from &&
    (event === undefined || eventOf(exchange) === event)
  const found = recordingOf(ctx).exchanges.all().filter(isWanted)
  const [most, before] = rowsOf({ page, limit })
  const stories = new Stories(recordingOf(ctx), ctx.faults)
  return { items: found.slice(before, before + most).map(one => recordOf(ctx, one, stories)), total: found.length }
}

function exchangeCalled(market: Market, id: string): Exchange {
  const exchange = recordingOf(market).exchanges.get(id)
  if (!exchange) throw refuse('not_found', 'exchange')
  return exchange
}

const getExchange: Verb<'getExchange'> = async (ctx, { params }) => detailsOf(ctx, exchangeCalled(ctx, params.id))

const diagnoseExchange: Verb<'diagnoseExchange'> = async (ctx, { params }) => {
  const exchange = exchangeCalled(ctx, params.id)
  return { diagnosis: exchangeDiagnosis(ctx, exchange), forms: await formsOfExchange(ctx, exchange) }
}

const listMails: Verb<'listMails'> = async ctx => {
  const shown = recordingOf(ctx).entries.all(entry => entry.type === 'mail' && entry.mail !== undefined)
  const newest = shown.slice(-limits.page.max).reverse()
  const items = newest.flatMap(entry => {
    if (entry.type !== 'mail' || !entry.mail) return []
    const { mailId, at, kind, mail } = entry
    return [{ id: mailId, at: iso(at), kind, ...mail }]
  })
  return { items }
}

const watchEvents: Verb<'watchEvents'> = async (ctx, { query: { after, taskId, follow } }) => {
  const { entries } = recordingOf(ctx)
  return new EventStream({
    feed: entries.feed(taskId),
    after: after ?? entries.feed().last,
    follows: follow !== 'false',
    owner: ctx.actor.credential,
  })
}

const recordOf = (market: Market, exchange: Exchange, stories?: Stories): ExchangeRecord => {
  const { id, direction, method, url, status, error, at, realAt, ms, taskId, agentId, deliveryId, attempt } = exchange
  const times = { at: iso(at), realAt: iso(realAt), ms }
  const diagnosis = exchangeDiagnosis(market, exchange, stories)
  const isWebhook = direction === 'webhook'
  const asked = { event: isWebhook ? eventOf(exchange) : null, action: isWebhook ? null : actionOf(exchange) }
  return {
    id,
    direction,
    method,
    url,
    status,
    error,
    ...times,
    taskId,
    agentId,
    deliveryId,
    attempt,
    ...asked,
    diagnosis,
  }
}

const detailsOf = (market: Market, exchange: Exchange): ExchangeDetails => ({
  ...recordOf(market, exchange),
  requestHeaders: headersOf(exchange.requestHeaders),
  requestBody: bodyOf(exchange.requestBody, exchange.requestCut),
  responseHeaders: headersOf(exchange.responseHeaders),
  responseBody: bodyOf(exchange.responseBody, exchange.responseCut),
  secretFingerprint: exchange.sentSecretFingerprint ?? null,
})

const headersOf = (lines: HeaderLines) => lines.map(([name, value]) => ({ name, value }))

function bodyOf(bytes: Buffer, cut: boolean): ExchangeDetails['requestBody'] {
  // A cut may have split a character, which then is no UTF-8.
  const encoding = isUtf8(bytes) ? 'text' : 'base64'
  return { encoding, content: bytes.toString(encoding === 'text' ? 'utf8' : 'base64'), bytes: bytes.length, cut }
}

export const recordingVerbs = { listExchanges, getExchange, diagnoseExchange, listMails, watchEvents }
