/** The first half of the demo: accounts, an agent that passes its test and review, and a deposit. */

import type { TransactionRecord, WalletRecord } from '../../api/money-records.ts'
import type { OwnAgentRecord, TestReport, UserRecord } from '../../api/records.ts'
import type { AgentProcess } from '../agents/agent-process.ts'
import { HttpUser } from '../http-user.ts'

export interface DemoStep {
  text: string
  /** The buyer's wallet after the step, in cents. */
  wallet?: { balance: number; heldBalance: number }
}

export interface DemoSetup {
  buyer: HttpUser
  builder: HttpUser
  admin: HttpUser
  agentId: string
}

export interface DemoSetupOptions {
  url: string
  admin: { email: string; password: string }
  agent: AgentProcess
  tell: (step: DemoStep) => void
}

export const DEPOSIT = 50_000

export async function setUpDemo({ url, admin: login, agent, tell }: DemoSetupOptions): Promise<DemoSetup> {
  const setup = { buyer: new HttpUser(url), builder: new HttpUser(url), admin: new HttpUser(url) }
  await register(setup.builder, 'Billie Builder', true)
  await register(setup.buyer, 'Bo Buyer', false)
  await setup.admin.call('POST', '/api/auth/login', login)
  tell({ text: 'A builder and a buyer have registered, an administrator has signed in' })

  const { key } = await setup.builder.call<{ key: string }>('POST', '/api/my/api-keys', { name: 'demo' })
  setup.builder.key = key
  const agentId = await createListedAgent(setup.builder, agent, tell)
  const { status } = await setup.admin.call<OwnAgentRecord>('POST', `/api/admin/agents/${agentId}/approve`)
  expect('the agent after its review', status, 'verified')
  const { items } = await setup.buyer.call<{ items: OwnAgentRecord[] }>('GET', '/api/agents?q=demo')
  expect('the agents that a search finds', items.map(({ id }) => id).join(), agentId)
  tell({ text: 'The administrator has approved it; a search finds it' })

  await setup.buyer.call<TransactionRecord>('POST', '/api/wallet/deposit', { amount: DEPOSIT })
  tell({ text: 'The buyer has deposited 500.00', wallet: await expectWallet(setup.buyer, DEPOSIT, 0) })
  return { ...setup, agentId }
}

/** Creates an agent, its secret, tests it and publishes it. */
async function createListedAgent(
  builder: HttpUser,
  agent: AgentProcess,
  tell: DemoSetupOptions['tell'],
): Promise<string> {
  const { id } = await builder.call<OwnAgentRecord>(
    'POST',
    '/api/my/agents',
    {
      name: 'Demo Writer',
      tagline: 'Writes what the demo asks for',
      description: 'An agent in a process of its own, which accepts what it can do and turns down what it can not.',
      pricingModel: 'fixed',
      basePrice: 1_000,
      categoryIds: ['cat_writing'],
      maxRevisions: 2,
      webhookUrl: agent.url,
    },
    'key',
  )
  const mine = `/api/my/agents/${id}`
  const { secret } = await builder.call<{ secret: string }>('POST', `${mine}/webhook-secret`, undefined, 'key')
  agent.use(secret)
  tell({ text: 'The builder has made an API key, an agent, and its webhook secret, which the agent now knows' })
  const report = await builder.call<TestReport>('POST', `${mine}/test-connection`, undefined, 'key')
  const failed = report.checks.find(({ status }) => status !== 'passed')
  if (failed) throw new Error(`Check ${failed.check} (${failed.name}) of the connection test: ${failed.message}`)
  expect('the checks of the connection test', report.checks.length, 5)
  await builder.call('POST', `${mine}/publish`, undefined, 'key')
  tell({ text: 'All five checks of the connection test passed; the agent waits for its review' })
  return id
}

function register(user: HttpUser, name: string, isBuilder: boolean): Promise<{ user: UserRecord }> {
  const email = `${name.split(' ')[1]!.toLowerCase()}@example.com`
  return user.call('POST', '/api/auth/register', { email, password: `${name} of the demo`, name, isBuilder })
}

export function expect(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what} should be ${wanted}, but is ${found}`)
}

/** Reads a wallet and compares it with what is expected. */
export async function expectWallet(user: HttpUser, balance: number, heldBalance: number) {
  const { wallet } = await user.call<WalletRecord>('GET', '/api/wallet')
  expect('the balance of the wallet in cents', wallet.balance, balance)
  expect('the held balance in cents', wallet.heldBalance, heldBalance)
  return { balance: wallet.balance, heldBalance: wallet.heldBalance }
}
