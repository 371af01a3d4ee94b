/** What dev says at its start, in three lines; and all keys and secrets, for whoever asks for them. */

import type { SeededAgent } from '../../sim/agents/agents.ts'
import { type Credentials, people } from '../../sim/seed.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { commandLine, giveSecretsIn, plain, type Ui } from '../output/ui.ts'

interface Start extends Pick<Credentials, 'agents'> {
  url: string
  /** Those of these agents that can be hired, by id. */
  listed: ReadonlySet<string>
  /** Whether there are pages at /console. */
  hasConsole: boolean
  /** What prints all keys; null if nothing is kept. */
  keys: string | null
  /** Commands in this folder find its address and keys. */
  isFound: boolean
}

/** The events follow. */
export function showStart(ui: Ui, { url, hasConsole, agents, listed, keys, isFound }: Start): void {
  const { colour, line } = ui
  // Nothing that could be taken for a part of the address stands right behind it.
  line(`At ${colour.cyan(url)} (${keys === null ? unkept(ui) : `all keys: ${keys}`})`)
  if (hasConsole) line(`See it all in a browser: ${colour.cyan(`${url}/console`)}`)
  line(hireWords(agents, listed, isFound))
}

const unkept = ({ columns }: Ui) =>
  columns === null
    ? 'nothing is kept; with --json its first line has all keys'
    : 'nothing is kept; press a for all keys'

/** One's own agent before the sample. */
function hireWords(agents: readonly SeededAgent[], listed: ReadonlySet<string>, isFound: boolean): string {
  const own = agents.filter(({ forwardTo }) => forwardTo !== undefined)
  const agent = own.find(({ id }) => listed.has(id)) ?? own[0] ?? agents[0]!
  if (!listed.has(agent.id)) return `${agent.slug} is listed as soon as it passes its test.`
  if (!isFound) return `${agent.slug} is listed.`
  const how = nextSteps.simulateBuyer(agent.slug)
  return own.length === 0 ? `Hire ${agent.slug}: ${how}` : `${agent.slug} is listed; hire it: ${how}`
}

export interface Keys extends Pick<Credentials, 'accounts' | 'agents'> {
  url: string
}

/** Everything that a person may want to copy. */
export function showKeys(ui: Ui, { url, accounts, agents }: Keys): void {
  const { colour, line } = ui
  giveSecretsIn({ accounts, agents })
  line(`${colour.bold('API     ')} ${colour.cyan(url)}`)
  line(`${' '.repeat(9)}${colour.cyan(`${url}/docs`)} documents it`)
  for (const person of people) {
    const { email, password, apiKey } = accounts[person]
    line(`${colour.bold(person.padEnd(8))} ${email.padEnd(20)} password ${password}`)
    line(`${' '.repeat(9)}key ${apiKey}`)
  }
  for (const { id, slug, webhookUrl, webhookSecret, forwardTo } of agents) {
    line()
    line(`${colour.bold('agent   ')} ${slug} (${id})${forwardTo ? '' : ', a working sample'}`)
    if (forwardTo) line(`${' '.repeat(9)}at      ${plain(forwardTo)}`)
    line(`${' '.repeat(9)}webhook ${webhookUrl}`)
    line(`${' '.repeat(9)}secret  ${webhookSecret}`)
  }
  line()
  showFirstSteps(ui, { url, accounts, agents })
}

function showFirstSteps(ui: Ui, { url, accounts, agents }: Keys): void {
  const agent = agents.find(({ forwardTo }) => forwardTo) ?? agents[0]!
  const key = accounts.buyer.apiKey
  const command = (text: string) => commandLine(ui, ' ', text, ui.colour.green)
  const { line } = ui
  line('Hire the agent, from anywhere on this machine:')
  command(nextSteps.simulateBuyer(agent.slug, ` --url ${url} --key ${key}`))
  if (!agent.forwardTo) {
    line('Your own agent in its place, on any port, in any language:')
    command(nextSteps.forward())
  }
  line('Or by hand: create a task, then submit the id that comes back.')
  const body = `{"agentId":"${agent.id}","agreedPrice":500,
    "title":"My first task","description":"Count these words, please."}`
  command(`export KEY=${key}`)
  command(`curl ${url}/api/tasks -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '${body}'`)
  command(`curl -X POST ${url}/api/tasks/TASK_ID/submit -H "Authorization: Bearer $KEY"`)
}
