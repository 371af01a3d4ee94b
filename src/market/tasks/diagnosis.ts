/** What is wrong with a task, for its parties. Source: A-288. */
import { type Finding, toRecord } from '../../api/diagnosis/record.ts'
import { type CallbackFact, findingIn } from '../../api/diagnosis/story.ts'
import { agentById } from '../../store/tables/agents/agents.ts'
import type { TaskRow } from '../../store/tables/tasks/tasks.ts'
import { attemptsAbout } from '../../store/tables/webhooks/deliveries.ts'
import { owesWork, patienceFor } from '../agents/health.ts'
import type { Acting, ReadCtx } from '../market.ts'
import { aboutAgent, attemptFact, Stories } from '../stories.ts'
import type { Verb } from '../verb.ts'
import { visibleTask } from './transitions.ts'

export const diagnoseTask: Verb<'diagnoseTask'> = async (ctx, { params }) => {
  const task = await visibleTask(ctx, params.id)
  const finding = await findingOf(ctx, task)
  if (!finding) return { diagnosis: null }
  const agent = await agentById(ctx.tx, task.agentId)
  const about = aboutAgent(ctx.config, agent ?? { slug: task.agentSlug, webhookUrl: null })
  return { diagnosis: toRecord(seesAll(ctx, task) ? finding : forBuyer(finding, task), about) }
}

const seesAll = ({ config, actor: { user } }: Acting<ReadCtx>, { builderId }: TaskRow) =>
  config.mode === 'dev' || user.id === builderId || user.isAdmin === 1

async function findingOf(ctx: Acting<ReadCtx>, task: TaskRow): Promise<Finding | null> {
  const { tx, world, recording, faults } = ctx
  const asked = { owes: owesWork(task.status), patienceMs: patienceFor(ctx, task.status) }
  if (recording) {
    const stories = new Stories(recording, faults, task.id)
    if (stories.has(task.id)) return findingIn(stories.story(task.id, { ...asked, now: world.realNow() }))
  }
  const sent = (await attemptsAbout(tx, task.id, task.agentId)).map(attemptFact)
  const facts = [...sent, ...callbacksOf(task)].sort((a, b) => a.from - b.from)
  return findingIn({ ...asked, facts, now: world.now() })
}

/** What is known of the callbacks of a task where nothing is recorded: when they were taken. */
function callbacksOf({ id, acceptedAt, deliveredAt }: TaskRow): CallbackFact[] {
  const taken = (action: string, at: number | null): CallbackFact[] =>
    at === null
      ? []
      : [
          {
            ...{ kind: 'callback', action, status: 200, refusal: null, message: '', signature: null },
            ...{ from: at, to: at, at, fault: null, exchangeId: null, taskId: id },
          },
        ]
  return [...taken('accept', acceptedAt), ...taken('deliver', deliveredAt)]
}

/** The webhooks of an agent are its builder's affair. */
function forBuyer({ cause, certainty, since }: Finding, { id: taskId, status }: TaskRow): Finding {
  const evidence = { taskId }
  const told = { certainty, since: since ?? null, evidence }
  if (cause === 'silent' || status === 'in_progress')
    return { ...told, cause: 'agent_silent', text: 'The agent was told of the task, and nothing has come of it yet.' }
  return {
    ...told,
    cause: 'agent_unreachable',
    text: 'The agent does not take what the marketplace sends it about the task.',
  }
}
