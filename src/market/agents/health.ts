/** What is wrong with an agent: by its last test, its last webhooks and callbacks, and whether it is listed. Derived when it is read. Source: A-288. */
import type { DiagnosisRecord, Finding } from '../../api/diagnosis/record.ts'
import { NOWHERE } from '../../api/diagnosis/responses.ts'
import { endInWords, type Fact, findingIn } from '../../api/diagnosis/story.ts'
import type { Cause } from '../../api/diagnosis/table.ts'
import { listedStates, type TaskState } from '../../api/flow.ts'
import { durations } from '../../api/limits.ts'
import type { Reader } from '../../store/db.ts'
import { testResults } from '../../store/tables/agents/agent-tests.ts'
import type { AgentRow, ListedAgentRow } from '../../store/tables/agents/agents.ts'
import { taskById } from '../../store/tables/tasks/tasks.ts'
import { newestAttempts } from '../../store/tables/webhooks/deliveries.ts'
import type { ReadCtx } from '../market.ts'
import { aboutAgent, attemptFact, Stories, told } from '../stories.ts'
import { passFault, type Standing } from './visibility.ts'

export type Asking = Pick<ReadCtx, 'tx' | 'world' | 'config' | 'recording' | 'faults'>

/** What the last test of an agent said, as its row keeps it. */
export interface TestResult {
  readonly testedAt: number
  readonly url: string | null
  readonly finding: Finding | null
}

/** What is wrong with each of these agents, by their ids. */
export async function diagnosesOfAgents(ctx: Asking, rows: readonly ListedAgentRow[]) {
  const { tx, config, world } = ctx
  const ids = rows.map(({ id }) => id)
  const tests = new Map((ids.length === 0 ? [] : await testResults(tx, ids)).map(row => [row.agentId, row.result]))
  const works = ctx.recording ? await recordedWork(ctx, ids) : await loggedWork(ctx, ids)
  const now = world.now()
  const found = new Map<string, DiagnosisRecord | null>()
  for (const row of rows) {
    const text = tests.get(row.id)
    const test = text ? validResult(JSON.parse(text), row) : null
    const standing = { suspended: row.builderSuspended, banned: row.builderBanned }
    const notes = ctx.recording?.notesOn(row.id)
    const away = notes?.away
      ? { ...notes.away, text: notes.away.text + endInWords(notes.deaths, world.realNow()) }
      : null
    const finding = agentFinding(row, { test, away, work: works.get(row.id) ?? null, standing, now })
    found.set(row.id, told(finding, aboutAgent(config, row)))
  }
  return found
}

/** What a task is to be diagnosed by, if it is not over. */
export const owesWork = (status: TaskState | null | undefined) => status === 'pending' || status === 'in_progress'

/** How long nothing may follow a 200. In a simulator a builder waits for it, and somebody's work may take hours. */
export const patienceFor = ({ config }: Pick<Asking, 'config'>, status: TaskState | null | undefined) =>
  config.mode === 'dev'
    ? status === 'pending'
      ? 5_000
      : 60_000
    : status === 'pending'
      ? durations.hourMs
      : durations.dayMs

interface Work {
  readonly finding: Finding | null
  /** When it was last in touch, in ms of domain time. */
  readonly at: number
}

/** Of so many of its last tasks it is looked whether something is wrong. */
const LAST_TASKS = 3

async function recordedWork(ctx: Asking, ids: readonly string[]): Promise<Map<string, Work>> {
  const { tx, world, recording, faults } = ctx
  const stories = new Stories(recording!, faults)
  const works = new Map<string, Work>()
  for (const id of ids) {
    const at = stories.lastOf(id)
    if (at === null) continue
    let finding: Finding | null = null
    for (const taskId of stories
      .tasksOf(id)
      .filter(one => !one.startsWith('test_'))
      .slice(0, LAST_TASKS)) {
      finding = await taskFinding(ctx, tx, stories, taskId, world.realNow())
      if (finding || stories.isWell(taskId)) break
    }
    works.set(id, { finding, at: finding?.since ?? at })
  }
  return works
}

async function taskFinding(ctx: Asking, q: Reader, stories: Stories, taskId: string, now: number) {
  const status = (await taskById(q, taskId))?.status
  return findingIn(stories.story(taskId, { owes: owesWork(status), now, patienceMs: patienceFor(ctx, status) }))
}

async function loggedWork(ctx: Asking, ids: readonly string[]): Promise<Map<string, Work>> {
  const works = new Map<string, Work>()
  for (const row of await newestAttempts(ctx.tx, ids)) {
    const facts: Fact[] = [attemptFact(row)]
    const { taskStatus: status } = row
    const story = { facts, owes: status === 'pending', now: ctx.world.now(), patienceMs: patienceFor(ctx, status) }
    works.set(row.agentId, { finding: findingIn(story), at: row.createdAt })
  }
  return works
}

/** Null if URL or secret have changed since. */
const validResult = (result: TestResult, row: AgentRow): TestResult | null =>
  result.testedAt === row.testedAt && result.url === row.webhookUrl && (row.secretRotatedAt ?? 0) <= result.testedAt
    ? result
    : null

interface Known {
  readonly test: TestResult | null
  readonly away: Finding | null
  readonly work: Work | null
  readonly standing: Standing
  readonly now: number
}

type Seen = Pick<
  AgentRow,
  'status' | 'webhookUrl' | 'secret' | 'lastPassAt' | 'failedAt' | 'deletedAt' | 'deactivatedAt' | 'updatedAt'
>

function agentFinding(agent: Seen, { test, away, work, standing, now }: Known): Finding | null {
  const is = (cause: Cause, text: string, since: number | null = null): Finding => ({
    cause,
    certainty: 'sure',
    text,
    since,
  })
  if (agent.deletedAt !== null) return is('deleted', 'The agent is deleted.', agent.deletedAt)
  if (standing.banned) return is('builder_banned', "The builder's account is banned.")
  if (agent.webhookUrl === NOWHERE) return is('down_on_purpose', `Nobody listens at ${NOWHERE} .`)
  const isNewer = (work?.at ?? 0) >= (test?.testedAt ?? 0)
  if (work && isNewer && work.finding) return work.finding
  if (away) return away
  if (test?.finding && !(work && isNewer)) return test.finding
  if (agent.webhookUrl === null) return is('no_url', 'No webhook URL is saved.')
  if (agent.secret === null) return is('no_webhook_secret', 'There is no webhook secret.')
  if (test?.finding && !isListed(agent)) return test.finding
  return unlisted(agent, standing, now, is)
}

const isListed = ({ status }: Seen) => (listedStates as readonly string[]).includes(status)

function unlisted(agent: Seen, standing: Standing, now: number, is: (cause: Cause, text: string) => Finding) {
  if (standing.suspended) return is('builder_suspended', "The builder's account is suspended.")
  const fault = passFault(agent, now)
  if (agent.status === 'pending_review') return is('in_review', 'The agent waits for its review.')
  if (agent.status === 'inactive') return is('deactivated', 'The agent is deactivated.')
  if (fault !== null)
    return is(agent.lastPassAt === null ? 'untested' : 'stale_test', `The webhook is unproven: ${fault}.`)
  if (agent.status === 'draft') return is('unpublished', 'The agent is a draft whose test has passed.')
  if ((agent.failedAt ?? 0) > (agent.lastPassAt ?? 0))
    return is('stale_test', 'The webhook is unproven: the last heartbeat failed.')
  return null
}
