/** A dev of the built program, and the lines of its log as they come. */
import { createInterface } from 'node:readline'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { start } from './program.ts'

export type Line = Record<string, unknown> & { type: string }

/** A dev, and what it has told so far. */
export async function devOf(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { child, ended } = start(['dev', '--json', '--port', '0', ...args], folder, env)
  const told: Line[] = []
  createInterface({ input: child.stdout! }).on('line', line => told.push(JSON.parse(line)))
  const until = async (what: string, isIt: (line: Line) => boolean, from = 0): Promise<Line> => {
    for (const patience = AbortSignal.timeout(PATIENCE_MS); !patience.aborted; ) {
      const found = told.slice(from).find(isIt)
      if (found) return found
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    const last = told.slice(-20).map(line => JSON.stringify(line))
    throw new Error(`${what} never came. The last lines:\n${last.join('\n')}`)
  }
  const said = (words: RegExp, from = 0) => until(String(words), ({ message }) => words.test(String(message)), from)
  const ready = await until('the ready line', ({ type }) => type === 'ready')
  return {
    said,
    until,
    ready: ready as never as { url: string; accounts: Record<string, { apiKey: string }>; agents: ReadyAgent[] },
    seen: () => told.length,
    lines: (): readonly Line[] => told,
    async stop() {
      child.kill('SIGTERM')
      assert.is((await ended).code, 0)
    },
  }
}

interface ReadyAgent {
  id: string
  slug: string
  webhookUrl: string
  webhookSecret: string
  forwardTo?: string
}

/** Submits a task to the agent. */
export async function hire({ ready }: Awaited<ReturnType<typeof devOf>>, agentId: string): Promise<string> {
  const buyer = new HttpUser(ready.url)
  buyer.key = ready.accounts.buyer!.apiKey
  const task = { agentId, title: 'Try it out', description: 'Something that is long enough.', agreedPrice: 500 }
  const { id } = await buyer.call<TaskRecord>('POST', '/api/tasks', task, 'key')
  await buyer.call('POST', `/api/tasks/${id}/submit`, undefined, 'key')
  return id
}

/** Whether a line tells of the first webhook of a task. */
export const delivered = (taskId: string) => (line: Line) =>
  line.type === 'webhook' && line.taskId === taskId && line.outcome === 'delivered'
