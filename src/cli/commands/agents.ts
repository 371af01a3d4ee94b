/** `marketplace agents list | show | publish` and `marketplace secret rotate`: a builder's own agents. */

import { durations } from '../../api/limits.ts'
import type { AgentRecord, OwnAgentRecord } from '../../api/records.ts'
import { UsageError } from '../../settings/config.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { type ConnectionFlags, connected } from '../connection/connection.ts'
import { diagnosisLines, reachTo } from '../connection/diagnosis.ts'
import { flagsToReach, nextSteps } from '../connection/next-steps.ts'
import { agentCalled, withDiagnosis } from '../endpoint/find-agent.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { noneOf } from '../output/empty-list.ts'
import { canAsk } from '../output/output.ts'
import { askYes } from '../output/prompts.ts'
import { giveSecretsIn, money, plain, type Ui } from '../output/ui.ts'

export interface AgentListFlags extends ConnectionFlags {
  all?: boolean
}

export const list = (flags: AgentListFlags) =>
  connected(flags, 'builder', async ({ client, out, notes, answer, found }) => {
    const agents: OwnAgentRecord[] = []
    for await (const { items } of client.listMyAgents({ limit: 100 })) agents.push(...items)
    return answer({ items: agents }, () => {
      if (agents.length === 0) return notes.line(noAgents(flagsToReach(found, 'builder')))
      const shown = flags.all ? agents : agents.filter(({ diagnosis }) => diagnosis?.cause !== 'down_on_purpose')
      const rows = shown.map(agent => rowOf(agent, out))
      out.list(['SLUG', 'STATUS', 'PRICE', 'LISTED', 'LAST CHECK PASSED'], rows)
      for (const agent of shown) tell(agent, notes, reachTo(found))
    })
  })

function tell({ slug, diagnosis }: OwnAgentRecord, notes: Ui, way: string): void {
  if (!diagnosis || diagnosis.isMeant) return
  const [words = '', ...commands] = diagnosisLines(diagnosis, way)
  notes.line(`${slug}: ${words}`)
  for (const command of commands) notes.line(`  ${command}`)
}

/** Of one's own. */
export const noAgents = (flags: string) =>
  noneOf({ things: 'agents', first: `The first: ${nextSteps.createAgent(flags)}` })

function rowOf({ slug, status, basePrice, visible, diagnosis, lastCheckPassedAt }: OwnAgentRecord, { colour }: Ui) {
  const cause = diagnosis ? diagnosis.cause.replaceAll('_', ' ') : ''
  const listed = visible ? colour.green(`yes${cause && `, ${cause}`}`) : `no${cause && `: ${cause}`}`
  return [slug, status, money(basePrice), listed, lastCheckPassedAt ?? 'never']
}

export const show = (agent: string, flags: ConnectionFlags) =>
  connected(flags, 'builder', async ({ client, out, notes, answer, found }) => {
    const record = await agentCalled({ client, found }, agent)
    return answer(record, () => {
      describe(out, record)
      const diagnosis = 'diagnosis' in record ? record.diagnosis : null
      for (const line of diagnosis ? diagnosisLines(diagnosis, reachTo(found)) : []) notes.line(line)
    })
  })

export const publish = (agent: string, flags: ConnectionFlags) =>
  connected(flags, 'builder', async ({ client, out, notes, answer, found }) => {
    const { id } = await agentCalled({ client, found }, agent)
    const record = await withDiagnosis(client.publishAgent({ id }), { client, found }, id)
    return answer(record, () => {
      out.line(`${record.slug} is ${record.status}.`)
      notes.line(
        `An administrator reviews it next. ${found.isDev ? `Here: ${nextSteps.approveAgent(id, flagsToReach(found, 'admin'))}` : ''}`.trim(),
      )
    })
  })

export interface RotateFlags extends ConnectionFlags {
  graceHours?: string
  yes?: boolean
}

export const rotateSecret = (agent: string, flags: RotateFlags) =>
  connected(flags, 'builder', async ({ client, out, notes, answer, found }) => {
    const { graceHours: hours } = flags
    const grace =
      hours === undefined ? {} : { graceHours: numberGiven('--grace-hours', hours, [0, durations.secretGraceMaxHours]) }
    const record = await agentCalled({ client, found }, agent)
    const { id } = record
    if ('visible' in record && record.visible && !flags.yes) await askToDelist(record.slug)
    const reply = await client.rotateSecret({ id, ...grace })
    giveSecretsIn(reply)
    return answer(reply, () => {
      out.line(reply.secret)
      const old = grace.graceHours ? `Callbacks signed with the old one are taken for ${grace.graceHours} h.` : ''
      notes.line(
        `The secret is shown this once: your agent verifies webhooks and signs callbacks with it. ${old}`.trim(),
      )
      notes.line(`Then: ${nextSteps.testConnection(agent, flagsToReach(found, 'builder'))}`)
    })
  })

/** A new secret takes back the last pass. */
async function askToDelist(slug: string): Promise<void> {
  const words = `${slug} is listed. A new secret hides it until its connection test has passed with that`
  if (!canAsk()) throw new UsageError(`${words}. Add --yes if that is meant.`)
  if (!(await askYes(`${words}. Make one?`))) throw new Fault('Nothing was changed', { code: exitCodes.failed })
}

function describe(out: Ui, agent: OwnAgentRecord | AgentRecord): void {
  const { average, count } = agent.rating
  const facts = {
    name: `${agent.name} (${agent.slug})`,
    id: agent.id,
    tagline: agent.tagline,
    status: agent.status,
    price: `${money(agent.basePrice)} ${agent.pricingModel}`,
    categories: agent.categoryIds.join(', '),
    tags: agent.tags.join(', ') || 'none',
    revisions: agent.maxRevisions === null ? 'any number' : String(agent.maxRevisions),
    turnaround: `${agent.turnaroundHours} h`,
    tasks: `${agent.completedTasks} completed, ${average === null ? 'no reviews' : `rated ${average} by ${count}`}`,
    checked: `${agent.lastCheckPassedAt ?? 'never passed'} (${agent.freshness})`,
    ...('webhookUrl' in agent ? ownFacts(agent) : {}),
  }
  out.table(Object.entries(facts).map(([name, words]) => [out.colour.dim(name), plain(words)]))
}

const ownFacts = ({ slug, webhookUrl, hasWebhookSecret, visible, hiddenReason, reviewReason }: OwnAgentRecord) => ({
  webhook: webhookUrl ?? 'none',
  secret: hasWebhookSecret ? 'there is one' : `none: ${nextSteps.rotateSecret(slug)}`,
  listed: visible ? 'yes' : `no${hiddenReason ? `: ${hiddenReason}` : ''}`,
  ...(reviewReason ? { review: reviewReason } : {}),
})
