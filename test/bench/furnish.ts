/** What our side holds while it is measured: a buyer with money, a builder, listed agents, tasks. */
import type { Actor, Market } from '../../src/market/market.ts'
import type { Tx } from '../../src/store/db.ts'
import { insertTask } from '../../src/store/tables/tasks/tasks.ts'
import { built } from './built.ts'
import { sinkHosts } from './sink-hosts.ts'

const { createUser } = await built<typeof import('../../src/market/accounts/accounts.ts')>('market/accounts/accounts')
const { createKeyFor } = await built<typeof import('../../src/market/accounts/keys.ts')>('market/accounts/keys')
const { defaultKeeping } = await built<typeof import('../../src/api/limits.ts')>('api/limits')
const { verbs } = await built<typeof import('../../src/market/verbs.ts')>('market/verbs')

export interface Furnished {
  user: Actor['user']
  builders: readonly Actor[]
  key: string
  agentIds: string[]
  taskIds: string[]
}

export const buyer = ({ user }: Furnished): Actor => ({ user, via: 'key', credential: 'bench' })

/** Fairness between builders is not what is measured: each has fewer webhooks due than its share. */
const BUILDERS = 20
const CHUNK = 500
const WORDS = ['brisk', 'careful', 'plain', 'northern', 'quiet', 'seasoned', 'modest', 'exact']

export async function furnish(
  market: Market,
  { agents, tasks, sinkPort }: { agents: number; tasks: number; sinkPort: number },
): Promise<Furnished> {
  const { db, world } = market
  const person = (name: string) => ({ email: `${name}@bench.example`, name, passwordHash: '', isAdmin: false })
  const { user, builders, key } = await db.write(async tx => {
    const user = await createUser(tx, world, { ...person('buyer'), isBuilder: true })
    const builders: Actor[] = []
    for (let n = 0; n < BUILDERS; n++) {
      const builder = await createUser(tx, world, { ...person(`builder-${n}`), isBuilder: true })
      builders.push({ user: builder, via: 'session', credential: 'bench' })
    }
    const { key } = await createKeyFor(tx, world, user.id, 'bench')
    // More than any deposit; the books stay in balance.
    const amount = 1_000_000_000_000
    await tx.run(`UPDATE accounts SET balance = balance + $2 WHERE id = 'available:' || $1`, [user.id, amount])
    await tx.run(`UPDATE accounts SET balance = balance - $1 WHERE id = 'world'`, [amount])
    return { user, builders, key }
  })
  const agentIds = await makeAgents(market, builders, agents, sinkPort)
  const furnished: Furnished = { user, builders, key, agentIds, taskIds: [] }
  const all = await insertDrafts(market, furnished, tasks)
  furnished.taskIds = all.slice(-1000)
  return furnished
}

async function makeAgents(market: Market, builders: readonly Actor[], count: number, port: number): Promise<string[]> {
  const { db, world } = market
  const config = { ...market.config, keeping: { ...defaultKeeping, agents: count } }
  const ids: string[] = []
  const make = async (from: number) =>
    db.write(async tx => {
      for (let n = from; n < Math.min(from + CHUNK, count); n++) {
        const word = WORDS[n % WORDS.length]
        const actor = builders[n % builders.length]!
        const body = {
          name: `The ${word} agent ${n}`,
          tagline: `Does ${word} work at any hour`,
          description: `A ${word} agent that takes on what others leave lying, and hands it back in good order.`,
          pricingModel: 'fixed' as const,
          basePrice: 200 + ((n * 37) % 5000),
          categoryIds: ['cat_writing', 'cat_code', 'cat_data', 'cat_media'].slice(n % 4, (n % 4) + 2),
          tags: ['bench', word!],
          webhookUrl: `https://${sinkHosts[n % sinkHosts.length]}:${port}/webhook`,
        }
        const { id } = await verbs.createAgent({ ...market, config, tx, actor }, { params: {}, query: {}, body })
        await verbs.rotateSecret({ ...market, tx, actor }, { params: { id }, query: {}, body: {} })
        await tx.run(
          `UPDATE agents SET status = 'verified', last_pass_at = $1, tested_at = $1, completed_tasks = $3 WHERE id = $2`,
          [world.now(), id, (n * 7919) % 311],
        )
        ids.push(id)
      }
    })
  for (let from = 0; from < count; from += CHUNK) await make(from)
  return ids
}

/** Tasks in draft for one agent after the other. Returns their ids. */
export async function insertDrafts(
  { db, world }: Market,
  { user, builders, agentIds }: Furnished,
  count: number,
): Promise<string[]> {
  const ids: string[] = []
  for (let from = 0; from < count; from += CHUNK) {
    await db.write(async tx => {
      for (let n = from; n < Math.min(from + CHUNK, count); n++) {
        const id = world.id('task')
        ids.push(id)
        const at = n % agentIds.length
        const parties = { agentId: agentIds[at]!, buyerId: user.id, builderId: builders[at % builders.length]!.user.id }
        await insertDraft(tx, { id, ...parties, createdAt: world.now() }, n)
      }
    })
  }
  return ids
}

/** One task in draft, the `n`th. */
export const insertDraft = (
  tx: Tx,
  given: { id: string; agentId: string; buyerId: string; builderId: string; createdAt: number },
  n: number,
) =>
  insertTask(tx, {
    ...given,
    buyerAgentId: null,
    hirerId: null,
    budgetAuthorizationId: null,
    title: `Sort the letters of year ${n}`,
    description: 'Forty letters lie in one heap: sort them by sender and day, and say which are missing.',
    requirements: 'A table with one line for each letter.',
    agreedPrice: 500,
    maxRevisions: null,
  })
