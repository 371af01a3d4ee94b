/** What a process needs to know to be an agent of a dev, as variables of its environment. */

import { pwshWord, shellWord } from '../../api/command-line.ts'
import { UsageError } from '../../settings/config.ts'
import type { SeededAgent } from '../../sim/agents/agents.ts'
import type { Credentials } from '../../sim/seed.ts'
import { neededCredentials, type StateFolder } from './state-folder.ts'

interface Reachable extends Pick<Credentials, 'accounts'> {
  url: string
  /** Where agents elsewhere, such as in containers, reach it. */
  publicUrl?: string | undefined
}

export function agentEnvironment({ url, publicUrl, accounts }: Reachable, agent: SeededAgent): Record<string, string> {
  const { id, webhookSecret, forwardTo } = agent
  return {
    MARKETPLACE_URL: publicUrl ?? url,
    MARKETPLACE_KEY: accounts.builder.apiKey,
    MARKETPLACE_AGENT_ID: id,
    MARKETPLACE_WEBHOOK_SECRET: webhookSecret,
    ...(forwardTo === undefined ? {} : { PORT: new URL(forwardTo).port || '80' }),
  }
}

type Variables = Readonly<Record<string, string>>

const lines = (variables: Variables, line: (name: string, value: string) => string) =>
  Object.entries(variables)
    .map(([name, value]) => `${line(name, value)}\n`)
    .join('')

const shells: Readonly<Record<string, (variables: Variables) => string>> = {
  sh: variables => lines(variables, (name, value) => `export ${name}=${shellWord(value)}`),
  fish: variables => lines(variables, (name, value) => `set -gx ${name} '${value.replace(/['\\]/g, '\\$&')}'`),
  pwsh: variables => lines(variables, (name, value) => `$env:${name} = ${pwshWord(value)}`),
  json: variables => `${JSON.stringify(variables)}\n`,
}

export interface PrintEnvFlags {
  /** The shell. true: none is named. */
  printEnv?: string | true
  agent?: string[]
  json?: boolean
}

/** Returns the environment of the agent that is named, else of the first that dev forwards to, else of the sample agent. */
export function environmentText({ printEnv, agent: named, json }: PrintEnvFlags, state: StateFolder): string {
  const shell = printEnv === true || printEnv === undefined ? (json ? 'json' : 'sh') : printEnv
  const print = Object.hasOwn(shells, shell) ? shells[shell] : undefined
  if (!print) throw new UsageError(`--print-env takes ${Object.keys(shells).join(', ')}, not ${shell}.`)
  const kept = neededCredentials(state)
  const wanted = named?.[0]?.replace(/=.*/s, '')
  const agents = kept.agents.filter(({ slug }) => wanted === undefined || slug === wanted)
  const agent = agents.find(({ forwardTo }) => forwardTo !== undefined) ?? agents[0]
  if (agent) return print(agentEnvironment(kept, agent))
  throw new UsageError(`dev has no agent ${wanted}. Its agents: ${kept.agents.map(({ slug }) => slug).join(', ')}.`)
}
