/** The agents of this machine that `marketplace dev` is given. */
import { UsageError } from '../../settings/config.ts'
import { seededNames } from '../../sim/seed.ts'
import { isLoopback } from '../../world/egress/addresses.ts'

export interface AgentFlags {
  forwardTo?: string[]
  agent?: string[]
  run?: string
}

export interface GivenAgent {
  /** Its slug, unless another agent has that. */
  name: string
  /** The URL that its webhooks go to; null: the port that `--run` gets. */
  forwardTo: string | null
}

const FIRST = 'my-agent'
const EXAMPLE = 'translator=http://localhost:3000/webhook'

/** Agents without a name are called my-agent, my-agent-2 and so on. */
export function givenAgents({ forwardTo: urls = [], agent: named = [], run }: AgentFlags): GivenAgent[] {
  const unnamed = urls.map((text, at) => ({
    name: at === 0 ? FIRST : `${FIRST}-${at + 1}`,
    forwardTo: urlOf('--forward-to', text),
  }))
  const agents: GivenAgent[] = [...unnamed, ...named.map(text => namedAgent(text, run))]
  if (run !== undefined && agents.length === 0) agents.push({ name: FIRST, forwardTo: null })
  const names = new Set(agents.map(({ name }) => name))
  if (names.size < agents.length) throw new UsageError('Each --agent needs a name of its own.')
  if (run !== undefined && agents.length > 1)
    throw new UsageError('--run starts one agent: give one --forward-to or --agent with it.')
  return agents
}

function namedAgent(text: string, run: string | undefined): GivenAgent {
  const [, name = '', url] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
  if (name === '' || (url === undefined && run === undefined))
    throw new UsageError(`--agent takes name=URL, such as ${EXAMPLE}, not ${text}.`)
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || name.length < 2 || name.length > 60)
    throw new UsageError(
      `--agent takes a name of 2 to 60 small letters and digits, with hyphens between them, such as ${EXAMPLE}, not ${name}.`,
    )
  if (seededNames.includes(name)) throw new UsageError(`${name} is an agent that dev itself has: choose another name.`)
  return { name, forwardTo: url === undefined ? null : urlOf('--agent', url) }
}

/** `localhost:3000/webhook` is enough. */
function urlOf(flag: string, text: string): string {
  const whole = /^\w+:\/\//.test(text) ? text : `http://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  if (url?.protocol === 'http:' && !url.username && !url.hash && isLoopback(url.hostname)) return url.href
  throw new UsageError(
    url?.protocol === 'https:'
      ? `${flag} takes an address without TLS, as dev puts HTTPS in front of it: http://localhost:3000/webhook, not ${text}.`
      : `${flag} takes the address of an agent on this machine, such as http://localhost:3000/webhook, not ${text}.`,
  )
}
