/** Who lives in the marketplace before the attack: buyers and an agent that mean well, and builders who do not. */
import type { Agents } from './agents.ts'
import { Caller } from './caller.ts'

/** A person who is signed in by key, with an address of his own. */
export interface Resident {
  address: string
  key: string
  email: string
  /** In progress, of his. */
  taskId: string
  agentId: string
  /** More tasks in progress, whose files he delivers himself; none of those who mean well. */
  works: string[]
}

export interface Population {
  honest: Resident[]
  hostile: Resident[]
}

// biome-ignore lint/suspicious/noExplicitAny: the ready line of dev
type Ready = any

/** Each takes files until it has as many deliverables as a task may. */
const WORKS = 2

export const PASSWORD = 'a long enough passphrase'

/** Builds the population through HTTP alone, on a simulator without rate limits. */
export async function settlePopulation(ready: Ready, agents: Agents, people: number): Promise<Population> {
  const admin = new Caller(ready.url, '127.0.0.1')
  const { email, password } = ready.accounts.admin
  await admin.call('POST', '/api/auth/login', { email, password })
  const builder = new Caller(ready.url, '127.0.0.1')
  builder.credential = { authorization: `Bearer ${ready.accounts.builder.apiKey}` }
  const agentId = await list(builder, admin, agents, 'honest')
  const population: Population = { honest: [], hostile: [] }
  for (let i = 0; i < people; i++) {
    const address = `127.0.${1 + Math.floor(i / 200)}.${1 + (i % 200)}`
    population.honest.push(await settle({ ready, admin, agents, name: `buyer${i}`, address, agentId }))
  }
  for (let i = 0; i < 10; i++) {
    const address = `127.0.0.${2 + i}`
    population.hostile.push(await settle({ ready, admin, agents, name: `hostile${i}`, address, agentId: null }))
  }
  await fillList(ready, population.hostile[0]!)
  admin.close()
  builder.close()
  return population
}

/** The longest texts a task may have, as JSON six times as long, and samples that anybody may look at. */
async function fillList(ready: Ready, { key, agentId }: Resident): Promise<void> {
  const lister = new Caller(ready.url, '127.0.0.1')
  lister.credential = { authorization: `Bearer ${key}` }
  const [description, requirements, output] = [10_000, 5_000, 50_000].map(length => '\u0001'.repeat(length))
  for (let i = 0; i < 100; i++) {
    await lister.call('POST', '/api/tasks', {
      agentId,
      title: `Long ${i}`,
      description,
      requirements,
      agreedPrice: 200,
    })
  }
  for (let i = 0; i < 10; i++)
    await lister.call('POST', `/api/my/agents/${agentId}/samples`, { title: `Long ${i}`, output })
  lister.close()
}

interface Newcomer {
  ready: Ready
  admin: Caller
  agents: Agents
  name: string
  address: string
  /** Whom the newcomer hires; null: an agent of his own. */
  agentId: string | null
}

/** An account with money and a key, and tasks that an agent has accepted. */
async function settle({ ready, admin, agents, name, address, agentId }: Newcomer): Promise<Resident> {
  const person = new Caller(ready.url, '127.0.0.1')
  const email = `${name}@example.com`
  const { user } = await person.call('POST', '/api/auth/register', { email, password: PASSWORD, name, isBuilder: true })
  await admin.call('PUT', `/api/admin/users/${user.id}`, { identityVerified: true })
  await person.call('POST', '/api/wallet/deposit', { amount: 100_000 })
  const { key } = await person.call('POST', '/api/my/api-keys', { name: 'test' })
  person.credential = { authorization: `Bearer ${key}` }
  const hired = agentId ?? (await list(person, admin, agents, name))
  const worker = new Caller(ready.url, '127.0.0.1')
  worker.credential = agentId ? { authorization: `Bearer ${ready.accounts.builder.apiKey}` } : person.credential
  const tasks: string[] = []
  for (let left = agentId ? 1 : 1 + WORKS; left > 0; left--) {
    const task = await person.call('POST', '/api/tasks', {
      agentId: hired,
      title: `A task of ${name}`,
      description: 'Something to talk about for a while.',
      agreedPrice: 200,
    })
    await person.call('POST', `/api/tasks/${task.id}/submit`)
    await worker.call('POST', `/api/tasks/${task.id}/accept`)
    tasks.push(task.id)
  }
  const [taskId = '', ...works] = tasks
  worker.close()
  person.close()
  return { address, key, email, taskId, agentId: hired, works }
}

/** An agent that is tested, published and approved. */
async function list(builder: Caller, admin: Caller, agents: Agents, name: string): Promise<string> {
  const { id } = await builder.call('POST', '/api/my/agents', { ...agentInput(name), webhookUrl: agents.urlOf(name) })
  const { secret } = await builder.call('POST', `/api/my/agents/${id}/webhook-secret`)
  agents.secrets.set(name, secret)
  const { passed, checks } = await builder.call('POST', `/api/my/agents/${id}/test-connection`)
  if (!passed) throw new Error(`the agent ${name} failed its test: ${JSON.stringify(checks)}`)
  await builder.call('POST', `/api/my/agents/${id}/publish`)
  await admin.call('POST', `/api/admin/agents/${id}/approve`)
  return id
}

export const agentInput = (name: string, description = 'An agent that takes part in a test of noisy neighbours.') => ({
  name: `Agent ${name}`,
  tagline: 'Takes part in a test of neighbours',
  description,
  pricingModel: 'fixed',
  basePrice: 200,
  categoryIds: ['cat_code'],
})
