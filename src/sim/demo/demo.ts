/**
 * The demo: whole lives of tasks over public HTTP, with an agent in its own process. Every amount is checked at every step.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMarketplace } from '../../open/open.ts'
import { startAgentProcess } from '../agents/agent-process.ts'
import { type DemoStep, type LedgerCheck, playScenario, setUpDemo } from './scenario.ts'

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
