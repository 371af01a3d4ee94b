/** The flags of an agent's fields, for `agents create` and `agents update`. */
import { limits } from '../../api/limits.ts'
import { fromTo, inUnits } from '../output/numbers.ts'
import type { FieldFlag } from './row.ts'

const { agent, price } = limits

export const agentFlags: readonly FieldFlag[] = [
  ['--name <text>', `${fromTo(agent.name)} characters`, 'name'],
  ['--tagline <text>', `${fromTo(agent.tagline)} characters`, 'tagline'],
  ['--description <text>', `${fromTo(agent.description)} characters`, 'description'],
  ['--base-price <amount>', `of a task, like 5.00; at least ${inUnits(price.min)}`, 'basePrice'],
  ['--price <amount>', 'the same as --base-price', 'basePrice'],
  ['--pricing-model <kind>', 'fixed, hourly or token', 'pricingModel'],
  [
    '--category <name...>',
    `${fromTo(agent.categories)}, by name, slug or id: agents categories`,
    'categoryIds',
    'categories',
  ],
  ['--webhook-url <url>', 'where webhooks go: https://', 'webhookUrl'],
  ['--turnaround-hours <n>', fromTo(agent.turnaroundHours), 'turnaroundHours'],
  ['--max-revisions <n>', fromTo(agent.maxRevisions), 'maxRevisions'],
  ['--tag <word...>', `at most ${agent.tags}`, 'tags'],
]

/** What an agent has where a new one is given nothing. */
const defaults: Readonly<Record<string, string>> = {
  pricingModel: 'fixed',
  turnaroundHours: String(agent.turnaroundHoursDefault),
  maxRevisions: 'any number',
}

/** The same for a new agent: the help names the defaults. */
export const newAgentFlags = agentFlags.map(([flags, words, field, kind]): FieldFlag => {
  const standard = typeof field === 'string' && defaults[field]
  const all = standard ? `${words} (default: ${standard})` : words
  return kind ? [flags, all, field, kind] : [flags, all, field]
})
