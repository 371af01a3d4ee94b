/**
 * The demo: whole lives of tasks over public HTTP, with an agent in its own process. Every amount is checked at every step.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { heldStates, type TaskState } from '../../api/flow.ts'
import type { ledgerCheck, TransactionRecord, WalletRecord } from '../../api/money-records.ts'
import type { DeliverableRecord, OwnAgentRecord, TaskRecord, TestReport, UserRecord } from '../../api/records.ts'
import { openMarketplace } from '../../open/open.ts'
import { type AgentProcess, startAgentProcess } from '../agents/agent-process.ts'
import { HttpUser } from '../http-user.ts'
export type DemoOutcome = { ok: true; ledger: LedgerCheck } | { ok: false; reason: string }

/**
 * Plays the demo. Calls `tell` after each step is done and checked. A failure is in the outcome; without a folder it rejects. `signal` ends
 * it: when it resolves, nothing of what it has started and made is left.
 */
export async function playDemo(tell: (step: DemoStep) => void, signal: AbortSignal): Promise<DemoOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'marketplace-demo-'))
  const closers: Closer[] = [() => rm(folder, { recursive: true, force: true })]
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('Interrupted')))
  })
  try {
    const toldUntilThen = (step: DemoStep) => signal.aborted || tell(step)
    return { ok: true, ledger: await Promise.race([play(folder, closers, toldUntilThen), interrupted]) }
  } catch (error) {
    return { ok: false, reason: (error as Error).message }
  } finally {
    for (const close of closers.reverse()) await close().catch(() => {})
  }
}

type Closer = () => Promise<unknown>

async function play(folder: string, closers: Closer[], tell: (step: DemoStep) => void): Promise<LedgerCheck> {
  const agent = await startAgentProcess()
  closers.push(() => agent.close())
  const admin = { email: 'admin@example.com', password: randomBytes(12).toString('base64url') }
  const marketplace = await openMarketplace({
    mode: 'dev',
    file: join(folder, 'demo.db'),
    ca: agent.ca,
    admin,
    holder: 'marketplace demo',
    onFatal: error => tell({ text: error.message }),
  })
  closers.push(() => marketplace.close())
  tell({
    text: `A fresh marketplace answers at ${marketplace.url}; an agent of its own process listens at ${agent.url}`,
  })
  const setup = await setUpDemo({ url: marketplace.url, admin, agent, tell })
  return playScenario(setup, tell)
}

type LedgerCheck = ReturnType<typeof ledgerCheck>['_output']

type Tell = (step: DemoStep) => void

interface Scenario extends DemoSetup {
  tell: Tell
  /** What the buyer should have now, including held money, in cents. */
  balance: number
}

/** A machine that is busy takes its time. */
const PATIENCE_MS = 30_000
const POLL_MS = 25

async function playScenario(setup: DemoSetup, tell: Tell): Promise<LedgerCheck> {
  const scenario: Scenario = { ...setup, tell, balance: DEPOSIT }
  await approved(scenario)
  await rejected(scenario)
  await cancelled(scenario)
  await refunded(scenario)
  await leftOpen(scenario)
  return checkLedger(scenario)
}

async function approved(scenario: Scenario): Promise<void> {
  const price = 12_000
  const task = await hire(scenario, 'An essay on patience', price)
  await expectStep(scenario, 'The agent accepted and delivered, all by webhook and callback', task, 'delivered', price)
  await act(scenario, task, 'request-revision', { reason: 'Please add a proverb.' })
  await until(scenario, task, ({ status, revisionCount }) => status === 'delivered' && revisionCount === 1)
  const { items } = await scenario.buyer.call<{ items: DeliverableRecord[] }>('GET', `${pathOf(task)}/deliverables`)
  expect('the number of deliverables after a revision', items.length, 2)
  await expectStep(scenario, 'The buyer asked for a revision; the agent delivered again', task, 'delivered', price)
  await act(scenario, task, 'approve')
  scenario.balance -= price
  await expectStep(scenario, 'The buyer approved: 120.00 went to the builder', task, 'completed', 0)
  await expectWallet(scenario.builder, price, 0)
}

async function rejected(scenario: Scenario): Promise<void> {
  const task = await hire(scenario, 'Something to reject', 5_000)
  await expectStep(scenario, 'The agent rejected it: the money came back', task, 'cancelled', 0)
}

async function cancelled(scenario: Scenario): Promise<void> {
  const task = await hire(scenario, 'Something that can wait', 7_000)
  await act(scenario, task, 'cancel')
  await expectStep(
    scenario,
    'The agent took its time, so the buyer cancelled: the money came back',
    task,
    'cancelled',
    0,
  )
}

async function refunded(scenario: Scenario): Promise<void> {
  const price = 9_000
  const task = await hire(scenario, 'A poem about clocks', price)
  await until(scenario, task, ({ status }) => status === 'delivered')
  const { dispute } = await act(scenario, task, 'dispute', { reason: 'This is not a poem at all.' })
  expect('the dispute', dispute?.status, 'open')
  await expectStep(
    scenario,
    'The agent delivered, but the buyer opened a dispute: the money stays held',
    task,
    'delivered',
    price,
  )
  await scenario.admin.call('POST', `/api/admin${pathOf(task).slice('/api'.length)}/resolve`, { outcome: 'refund' })
  await expectStep(scenario, 'The administrator decided for a refund: the money came back', task, 'cancelled', 0)
}

async function leftOpen(scenario: Scenario): Promise<void> {
  await hire(scenario, 'One more that can wait', 3_000)
}

async function checkLedger({ admin, buyer, tell }: Scenario): Promise<LedgerCheck> {
  const { tasks } = await buyer.call<{ tasks: TaskRecord[] }>('GET', '/api/tasks?role=buyer&limit=100')
  const open = tasks.filter(({ status }) => (heldStates as readonly string[]).includes(status))
  const held = open.reduce((sum, { agreedPrice }) => sum + agreedPrice, 0)
  const { wallet } = await buyer.call<{ wallet: { balance: number; heldBalance: number } }>('GET', '/api/wallet')
  expect('the held money', wallet.heldBalance, held)
  const ledger = await admin.call<LedgerCheck>('GET', '/api/admin/ledger/check')
  if (!ledger.ok) throw new Error(`The ledger does not add up: ${ledger.problems.join('; ')}`)
  const { accounts, entries } = ledger
  tell({
    text: `The ledger adds up: ${accounts} accounts, ${entries} entries; what is held is what open tasks cost`,
    wallet,
  })
  return ledger
}

/** Creates a task and submits it. */
async function hire(scenario: Scenario, title: string, agreedPrice: number): Promise<TaskRecord> {
  const { agentId, buyer } = scenario
  const description = 'What the demo would like to have, in enough words.'
  const draft = await buyer.call<TaskRecord>('POST', '/api/tasks', { agentId, title, description, agreedPrice })
  const task = await act(scenario, draft, 'submit')
  expect('the task after its submission', task.status, 'pending')
  const wallet = title.includes('wait') ? await expectMoney(scenario, agreedPrice) : undefined
  scenario.tell({
    text: `The buyer submitted "${title}" for ${(agreedPrice / 100).toFixed(2)}`,
    ...(wallet && { wallet }),
  })
  return task
}

/** Waits for the state, checks the wallet, then reports the step. */
async function expectStep(
  scenario: Scenario,
  text: string,
  task: TaskRecord,
  state: TaskState,
  held: number,
): Promise<void> {
  await until(scenario, task, ({ status }) => status === state)
  scenario.tell({ text, wallet: await expectMoney(scenario, held) })
}

const expectMoney = ({ buyer, balance }: Scenario, held: number) => expectWallet(buyer, balance - held, held)

const pathOf = ({ id }: TaskRecord) => `/api/tasks/${id}`

const act = ({ buyer }: Scenario, task: TaskRecord, verb: string, body?: object) =>
  buyer.call<TaskRecord>('POST', `${pathOf(task)}/${verb}`, body)

async function until({ buyer }: Scenario, task: TaskRecord, wanted: (task: TaskRecord) => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const now = await buyer.call<TaskRecord>('GET', pathOf(task))
    if (wanted(now)) return
    if (Date.now() > deadline) throw new Error(`"${task.title}" is still ${now.status} after ${PATIENCE_MS / 1000} s`)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

/** The first half of the demo: accounts, an agent that passes its test and review, and a deposit. */
export interface DemoStep {
  text: string
  /** The buyer's wallet after the step, in cents. */
  wallet?: { balance: number; heldBalance: number }
}

interface DemoSetup {
  buyer: HttpUser
  builder: HttpUser
  admin: HttpUser
  agentId: string
}

interface DemoSetupOptions {
  url: string
  admin: { email: string; password: string }
  agent: AgentProcess
  tell: (step: DemoStep) => void
}

const DEPOSIT = 50_000

async function setUpDemo({ url, admin: login, agent, tell }: DemoSetupOptions): Promise<DemoSetup> {
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

function expect(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what} should be ${wanted}, but is ${found}`)
}

/** Reads a wallet and compares it with what is expected. */
async function expectWallet(user: HttpUser, balance: number, heldBalance: number) {
  const { wallet } = await user.call<WalletRecord>('GET', '/api/wallet')
  expect('the balance of the wallet in cents', wallet.balance, balance)
  expect('the held balance in cents', wallet.heldBalance, heldBalance)
  return { balance: wallet.balance, heldBalance: wallet.heldBalance }
}
