/**
 * Why a callback was refused with 401, and what helps, in a simulator. A deployment says no more than the interface does.
 * Source.
 */

import { ageOf } from '../../api/diagnosis/clock.ts'
import { type Candidate, type Diagnosis, diagnose, formsBeside, formsOf } from '../../api/diagnosis/diagnose.ts'
import { timestampIn } from '../../api/diagnosis/headers.ts'
import { parsed } from '../../api/diagnosis/json-writers.ts'
import { inWords } from '../../api/diagnosis/record.ts'
import type { SignedForms } from '../../api/diagnosis/signed-forms.ts'
import { explain } from '../../api/diagnosis/verdicts.ts'
import { wrongSignatures } from '../../api/diagnosis/wrong-signatures.ts'
import { Refusal } from '../../api/failures.ts'
import { SIGNATURE_HEADER } from '../../api/signature.ts'
import { roughly } from '../../api/spans.ts'
import type { Reader } from '../../store/db.ts'
import { testById } from '../../store/tables/agents/agent-tests.ts'
import { type AgentRow, agentById } from '../../store/tables/agents/agents.ts'
import { seenSignature } from '../../store/tables/requests/seen-signatures.ts'
import { agentsWithSecret } from '../../store/tables/sealed-columns.ts'
import { taskById } from '../../store/tables/tasks/tasks.ts'
import { linesOf } from '../../world/header-lines.ts'
import type { Exchange } from '../exchange.ts'
import type { Market } from '../market.ts'
import type { SignedCallback } from '../verb.ts'
import { callbackSecrets, openedIfPossible, previousSecrets } from './secrets.ts'

type Judged = 'direction' | 'taskId' | 'agentId' | 'requestHeaders' | 'requestBody' | 'status' | 'realAt'
type SignedExchange = Pick<Exchange, Judged>

type Source = Pick<Market, 'db' | 'config' | 'world' | 'recording'>

/**
 * Returns why a signature was refused: ours by the agent, or the agent's by us. null: it was not, or this is no simulator.
 * @internal Tests explain exchanges that were not recorded.
 */
export async function diagnoseExchange(market: Source, exchange: SignedExchange): Promise<Diagnosis | null> {
  if (market.config.mode !== 'dev' || exchange.status !== 401) return null
  return market.db.read(q =>
    exchange.direction === 'callback' ? ofCallback(q, market, exchange) : ofWebhook(q, market, exchange),
  )
}

/** Returns why the signature of a callback is refused; null: it is not. */
export async function findingOn(
  market: Source,
  taskId: string,
  { rawHeaders, raw }: SignedCallback,
): Promise<Diagnosis | null> {
  const realAt = market.world.realNow()
  const requestHeaders = linesOf(rawHeaders)
  return market.db.read(q => ofCallback(q, market, { taskId, requestHeaders, requestBody: raw, realAt }))
}

/**
 * Adds what is wrong to a refused signature, and tells the caller, unless that wants to be answered as by a deployment.
 * `known`: what is found out already.
 */
export async function addHint(
  market: Source,
  error: unknown,
  taskId: string,
  signed: SignedCallback,
  known?: Diagnosis | null,
): Promise<void> {
  if (market.config.mode !== 'dev' || !(error instanceof Refusal) || error.code !== 'bad_signature') return
  const found = known ?? (await findingOn(market, taskId, signed))
  if (!found) return
  error.finding = found
  const isStrict = linesOf(signed.rawHeaders).some(
    ([name, value]) => name.toLowerCase() === 'x-strict' && value === '1',
  )
  if (!isStrict) error.hint = inWords(found)
}

async function ofCallback(
  q: Reader,
  market: Source,
  exchange: Pick<SignedExchange, 'taskId' | 'requestHeaders' | 'requestBody' | 'realAt'>,
): Promise<Diagnosis | null> {
  const { taskId: id, requestHeaders: headers, requestBody: body, realAt } = exchange
  const of = id === null ? undefined : ((await taskById(q, id)) ?? (await testById(q, id)))
  const agent = of && (await agentById(q, of.agentId))
  if (!agent) return explain('unknown_task', 'There is no task and no test with the id in the path.')
  const ages = earlierAges(market, agent.id, realAt)
  const found = diagnose({ headers, body }, await candidatesFor(q, market, agent), realAt, ages)
  if (found) return found
  const { taskId: named } = (parsed(Buffer.from(body).toString()) ?? {}) as { taskId?: unknown }
  if (named !== undefined && named !== id) {
    return explain('other_task', 'The signature is right, but the taskId in the body is not that of the path.')
  }
  const [, signature = ''] = headers.find(([name]) => name.toLowerCase() === SIGNATURE_HEADER.toLowerCase()) ?? []
  const seen = await seenSignature(q, signature)
  if (!seen || seen.taskId === id) return null
  return explain('used_signature', 'The signature is right, but it was used for another task before.')
}

/** So many callbacks are enough for a median that one or two slow ones do not change. */
const AGES = 8

/** How old the last callbacks of an agent were when they came. */
function earlierAges({ recording }: Source, agentId: string, before: number): number[] {
  const ages: number[] = []
  for (const exchange of recording?.exchanges.all() ?? []) {
    if (exchange.direction !== 'callback' || exchange.agentId !== agentId || exchange.realAt >= before) continue
    const age = ageOf(exchange.requestHeaders, exchange.realAt)
    if (age !== null && ages.push(age) === AGES) break
  }
  return ages
}

/** More agents than this are not compared. */
const MOST_OTHERS = 200

/** Returns the secrets that a wrong signature of the agent, or a wrong verification, may have been made with. */
export const signatureCandidates = (market: Source, agent: AgentRow): Promise<Candidate[]> =>
  market.db.read(q => candidatesFor(q, market, agent))

async function candidatesFor(q: Reader, { config, world }: Source, agent: AgentRow): Promise<Candidate[]> {
  // Those of somebody else are not told.
  const others =
    config.mode === 'dev' ? (await agentsWithSecret(q, MOST_OTHERS)).filter(({ id }) => id !== agent.id) : []
  const previous = await previousSecrets(q, config, agent.id)
  return [
    ...callbackSecrets(config, agent, world.now()).map(secret => ({ secret, kind: 'current' as const })),
    ...previous.map(secret => ({ secret, kind: 'previous' as const, agent: agent.slug })),
    ...others.flatMap(({ id, slug, secret }) =>
      openedIfPossible(config, id, secret ?? '').map(other => ({ secret: other, kind: 'other' as const, agent: slug })),
    ),
  ]
}

/** The signature is right, as the marketplace made it. So this is the likely cause. */
async function ofWebhook(q: Reader, { world }: Source, { agentId }: SignedExchange): Promise<Diagnosis | null> {
  const agent = agentId === null ? undefined : await agentById(q, agentId)
  if (!agent) return null
  const since = agent.secretRotatedAt === null ? null : world.now() - agent.secretRotatedAt
  const rotated = since === null ? '' : ` Its secret was made ${roughly(since)} ago: perhaps it has another one.`
  return explain('refused_by_agent', `The agent refused a webhook that was signed rightly.${rotated}`, 'likely')
}

/** What was signed wrongly beside what is right: by the agent, or by what the agent takes for right. null: nobody knows. */
export async function formsOfExchange(market: Source, exchange: Exchange): Promise<SignedForms | null> {
  const { agentId, direction, requestHeaders: headers, requestBody: body } = exchange
  const agent = agentId === null ? undefined : await market.db.read(q => agentById(q, agentId))
  if (!agent || exchange.status === null || exchange.status < 400) return null
  const candidates = await signatureCandidates(market, agent)
  if (direction === 'callback') return formsOf({ headers, body }, candidates)
  const mistake = market.recording?.notesOn(agentId).mistake
  const timestamp = timestampIn(headers).value
  if (!mistake || timestamp === undefined) return null
  // The mistake was found with another body.
  for (const wrong of wrongSignatures(body, candidates, Number(timestamp)))
    if (wrong.mistake.cause === mistake.cause && mistake.text.includes(wrong.mistake.text))
      return wrong.signed && formsBeside(wrong.signed, timestamp, body)
  return null
}
