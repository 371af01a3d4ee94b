/** What suites about webhooks begin each test with: a marketplace in virtual time, a buyer and an agent. */
import type { Test } from 'uvu'
import type { LogEntry } from '../../../src/market/log.ts'
import {
  type ListedAgent,
  openTestMarketplace,
  type TestMarketplace,
  type TestUser,
} from '../../support/marketplace.ts'

export interface State {
  marketplace: TestMarketplace
  buyer: TestUser
  agent: ListedAgent
  logged: LogEntry[]
}

export function openBeforeEach(test: Test<State>): void {
  test.before.each(async state => {
    state.logged = []
    state.marketplace = await openTestMarketplace({ log: line => state.logged.push(line) })
    state.buyer = await state.marketplace.join('buyer', 20_000)
    state.agent = await state.marketplace.list(await state.marketplace.join('builder'))
  })
  test.after.each(async ({ marketplace }) => marketplace.close())
}

/** Submits a task to the agent. */
export async function submitted({ marketplace, buyer, agent }: State, to: ListedAgent = agent) {
  const task = await marketplace.draft(buyer, to)
  await buyer.call('POST', `/api/tasks/${task.id}/submit`)
  return task
}

/** The states of all deliveries, the oldest first. */
export async function states({ marketplace }: State): Promise<string[]> {
  const sql = 'SELECT state FROM deliveries ORDER BY id'
  return (await marketplace.market.db.read(q => q.all<{ state: string }>(sql))).map(({ state }) => state)
}
