/** Everybody else: buyers who look, search and write to their agent at a quiet pace. Their waits are what counts. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Agents } from './agents.ts'
import { Caller } from './caller.ts'
import type { Resident } from './population.ts'

/** All waits in ms. */
export interface Waits {
  reads: number[]
  writes: number[]
  /** From the request that caused it to the webhook at the agent. */
  webhooks: number[]
  /** What was not answered with 2xx, or not at all. */
  faults: string[]
  /** What took longest. */
  slowest: { ms: number; what: string }[]
  /** Messages whose webhook never came. */
  missing: number
}

/** Lives for `seconds`, then waits for the last webhooks. */
export async function liveOn(
  url: string,
  honest: readonly Resident[],
  agents: Agents,
  seconds: number,
): Promise<Waits> {
  const waits: Waits = { reads: [], writes: [], webhooks: [], faults: [], slowest: [], missing: 0 }
  const sent = new Map<string, number>()
  agents.heard = (_name, event, { message = '' }, at) => {
    const from = event === 'task.message' ? sent.get(message) : undefined
    if (from === undefined) return
    sent.delete(message)
    waits.webhooks.push(at - from)
  }
  const until = Date.now() + seconds * 1000
  await Promise.all(honest.map(resident => live(url, resident, { waits, sent, until })))
  for (let i = 0; i < 150 && sent.size > 0; i++) await wait(200)
  waits.missing = sent.size
  return waits
}

interface Day {
  waits: Waits
  sent: Map<string, number>
  until: number
}

const KEPT_SLOW = 20

function noteSlow({ slowest }: Waits, ms: number, what: string): void {
  if (slowest.length === KEPT_SLOW && ms < slowest.at(-1)!.ms) return
  slowest.push({ ms: Math.round(ms), what })
  slowest.sort((one, other) => other.ms - one.ms).splice(KEPT_SLOW)
}

async function live(url: string, me: Resident, { waits, sent, until }: Day): Promise<void> {
  const caller = new Caller(url, me.address)
  caller.credential = { authorization: `Bearer ${me.key}` }
  const ask = async (list: number[], method: string, path: string, body?: object) => {
    try {
      const { status, error, ms } = await caller.send(method, path, body)
      list.push(ms)
      noteSlow(waits, ms, `${method} ${path}`)
      if (status >= 300) waits.faults.push(`${method} ${path}: ${status} ${error}`)
    } catch (error) {
      waits.faults.push(`${method} ${path}: ${(error as Error).message}`)
    }
  }
  await wait(Math.random() * 3_000)
  for (let round = 0; Date.now() < until; round++) {
    await ask(waits.reads, 'GET', `/api/tasks/${me.taskId}`)
    await wait(500 + Math.random() * 1000)
    await ask(waits.reads, 'GET', round % 3 ? '/api/tasks?limit=20' : '/api/agents?q=agent')
    await wait(500 + Math.random() * 1000)
    const content = `message ${round} of ${me.address}`
    sent.set(content, performance.now())
    await ask(waits.writes, 'POST', `/api/tasks/${me.taskId}/messages`, { content })
    await wait(500 + Math.random() * 1000)
  }
  caller.close()
}
