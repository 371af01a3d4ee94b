/** Collects the fields of a new agent from flags, from a file, or by questions. */
import { agents } from '../../api/endpoints/agents.ts'
import type { CallInput } from '../../api/endpoints/calls.ts'
import { limits } from '../../api/limits.ts'
import type { CategoryRecord } from '../../api/records.ts'
import { fromTo, inAmounts, readCents } from '../output/numbers.ts'
import { openPrompt, type Prompt, untilInterrupted } from '../output/prompts.ts'
import { plain } from '../output/ui.ts'
import { newAgentFlags } from './agent-flags.ts'
import { fieldsOf, refuseMissing } from './fields.ts'
import { categoryCalled } from './find-agent.ts'
import type { RowFlags } from './row.ts'

export type AgentInput = CallInput<'createAgent'>
type Fields = Partial<AgentInput>

const { shape } = agents.createAgent.body
const required = ['name', 'tagline', 'description', 'basePrice', 'categoryIds'] as const
type Required = (typeof required)[number]

const row = { name: 'agents create', flags: newAgentFlags, file: true } as const

/** Returns the fields of the file, overridden by the flags. Throws a UsageError for fields that agents don't have. */
export async function fieldsGiven(flags: RowFlags, categories: readonly CategoryRecord[]): Promise<Fields> {
  const fields: Fields = { pricingModel: 'fixed', ...(await fieldsOf(row, agents.createAgent, [], flags)) }
  const { category } = flags
  if (!Array.isArray(category)) return fields
  return { ...fields, categoryIds: category.map(word => categoryCalled(word, categories).id) }
}

const missingIn = (fields: Fields) => required.filter(name => fields[name] === undefined)

/** For where nobody can be asked. */
export function proveComplete(fields: Fields): asserts fields is AgentInput {
  refuseMissing(row, agents.createAgent, fields, '; on a terminal it asks')
}

/** Asks for missing fields. Each answer is checked against the rules of the interface at once. */
export async function ask(fields: Fields, categories: readonly CategoryRecord[]): Promise<AgentInput> {
  const missing = missingIn(fields)
  if (missing.length === 0) return fields as AgentInput
  const prompt = await openPrompt()
  const answers: Record<string, unknown> = { ...fields }
  const asked = async () => {
    for (const name of missing) answers[name] = await questions[name](prompt, categories)
    if (fields.webhookUrl === undefined) answers.webhookUrl = await askWebhookUrl(prompt)
  }
  await untilInterrupted(asked(), 'Interrupted; no agent was made')
  return answers as AgentInput
}

async function askWebhookUrl(prompt: Prompt): Promise<string | null> {
  const message = 'Webhook URL (https://…; leave it empty to save one later):'
  const { url } = await prompt<{ url: string }>([
    { type: 'input', name: 'url', message, validate: text => text === '' || faultOf('webhookUrl', text) },
  ])
  return url || null
}

const input = (name: 'name' | 'tagline' | 'description', message: string) => async (prompt: Prompt) => {
  const { text } = await prompt<{ text: string }>([
    { type: 'input', name: 'text', message, validate: text => faultOf(name, text) },
  ])
  return text
}

const questions: Record<Required, (prompt: Prompt, categories: readonly CategoryRecord[]) => Promise<unknown>> = {
  name: input('name', `Name (${fromTo(limits.agent.name)} characters):`),
  tagline: input('tagline', `Tagline (${fromTo(limits.agent.tagline)} characters):`),
  description: input('description', `Description (${fromTo(limits.agent.description)} characters):`),
  async basePrice(prompt) {
    const message = 'Price of a task (like 5.00):'
    const validate = (text: string) => {
      const cents = readCents(text)
      if (cents === undefined) return 'It takes two decimals, like 5.00'
      const fault = faultOf('basePrice', cents)
      return fault === true || inAmounts(fault)
    }
    const { price } = await prompt<{ price: string }>([
      { type: 'input', name: 'price', message, default: '5.00', validate },
    ])
    return readCents(price)
  },
  async categoryIds(prompt, categories) {
    const choices = categories.map(({ id, name, description }) => ({
      value: id,
      name: plain(name),
      description: plain(description),
    }))
    const message = `Categories (${fromTo(limits.agent.categories)}):`
    const validate = (chosen: readonly { value: string }[]) =>
      faultOf(
        'categoryIds',
        chosen.map(({ value }) => value),
      )
    const { ids } = await prompt<{ ids: string[] }>([{ type: 'checkbox', name: 'ids', message, choices, validate }])
    return ids
  },
}

/** Returns true, or what is wrong in the words of the interface. */
function faultOf(field: keyof typeof shape, value: unknown): true | string {
  const parsed = shape[field].safeParse(value)
  return parsed.success || `It ${parsed.error.issues[0]?.message ?? 'is not allowed'}`
}
