/** How a simulated buyer hires an agent: by the verbs, with all that its character does at once. Source: A-256. */
import type { Act } from '../verb-calls.ts'
import type { Draw, Persona } from './persona.ts'
import { type Actors, refused, say, setStanding, type Told } from './persona-steps.ts'

export interface Hire extends Actors {
  readonly buyerId: string
  readonly agent: { readonly id: string; readonly basePrice: number }
  readonly persona: Persona
  readonly draw: Draw
  /** The authorization of its own agent; null: it pays by itself. */
  readonly budgetId: string | null
  /** What the agent is called in the story. */
  readonly whom: string
  titled(title: string): string
  /** Hears of the draft. */
  began(taskId: string): void
  tell(told: Told): void
}

const bySentence = { suspended: 'suspends', banned: 'bans' } as const

/** Rejects with a Refusal where the marketplace refuses what the character has not expected. */
export async function hire({ buyer, admin, persona, draw, tell, ...hired }: Hire): Promise<void> {
  const { agent, buyerId, budgetId } = hired
  const agreedPrice = persona.offer(agent.basePrice)
  if (budgetId !== null) await cap(buyer, budgetId, agreedPrice)
  const { title, ...brief } = persona.brief(draw)
  const overspends = budgetId !== null && persona.overspends?.(draw) === true
  const fields = { ...brief, agentId: agent.id, title: hired.titled(title), budgetAuthorizationId: budgetId }
  const task = await buyer('createTask', { ...fields, agreedPrice: overspends ? agreedPrice + 1 : agreedPrice })
  hired.began(task.id)
  const submit = (price: number) => {
    tell({ does: 'submit', words: `hires ${hired.whom} for ${(price / 100).toFixed(2)}` })
    return buyer('submitTask', { id: task.id })
  }
  if (overspends) {
    await refused('over_task_cap', submit(agreedPrice + 1), tell)
    await buyer('updateTask', { id: task.id, agreedPrice })
  }
  await submit(agreedPrice)
  await say(buyer, task.id, persona.asks(draw), tell)
  const { becomes } = persona
  if (becomes) tell({ does: becomes, words: `${bySentence[becomes]} its account`, byAdmin: true })
  await setStanding(admin, buyerId, persona, true)
}

/** Lets the agent spend so much on a task, and no cent more. */
async function cap(buyer: Act, id: string, cents: number): Promise<void> {
  const { maxPerTask } = await buyer('getBudget', { id })
  if (maxPerTask !== cents) await buyer('updateBudget', { id, maxPerTask: cents })
}
