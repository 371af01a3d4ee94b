/** Shows what a simulator has recorded. Source: A-238. */
import { isUtf8 } from 'node:buffer'
import { NOWHERE } from '../../api/diagnosis/responses.ts'
import type { ExchangeDetails, ExchangeRecord } from '../../api/exchange-records.ts'
import { refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import { EventStream } from '../../api/reply.ts'
import type { HeaderLines } from '../../world/header-lines.ts'
import { type Exchange, hasFailed } from '../exchange.ts'
import type { Market } from '../market.ts'
import type { Recording } from '../recording.ts'
import { exchangeDiagnosis, Stories } from '../stories.ts'
import { iso } from '../time.ts'
import type { Verb } from '../verb.ts'

function recordingOf({ recording }: Pick<Market, 'recording'>): Recording {
  if (!recording) throw new Error('A deployment records nothing')
  return recording
}

const listExchanges: Verb<'listExchanges'> = async (
  ctx,
  { query: { taskId, agentId, failed, meant, page, limit } },
) => {
  const found = recordingOf(ctx)
    .exchanges.all()
    .filter(exchange => taskId === undefined || exchange.taskId === taskId)
    .filter(exchange => agentId === undefined || exchange.agentId === agentId)
    .filter(exchange => failed === undefined || hasFailed(exchange) === (failed === 'true'))
    .filter(({ url }) => failed !== 'true' || meant === 'true' || url !== NOWHERE)
  const [most, from] = rowsOf({ page, limit })
  const stories = new Stories(recordingOf(ctx), ctx.faults)
  return { items: found.slice(from, from + most).map(one => recordOf(ctx, one, stories)), total: found.length }
}

const getExchange: Verb<'getExchange'> = async (ctx, { params }) => {
  const exchange = recordingOf(ctx).exchanges.get(params.id)
  if (!exchange) throw refuse('not_found', 'exchange')
  return detailsOf(ctx, exchange)
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
  return { id, direction, method, url, status, error, ...times, taskId, agentId, deliveryId, attempt, diagnosis }
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

export const recordingVerbs = { listExchanges, getExchange, watchEvents }
