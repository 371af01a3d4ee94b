/** Receives callbacks of agents on this machine for tasks that exist in no marketplace. Source: I-callback. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TaskState } from '../../api/flow.ts'
import { durations } from '../../api/limits.ts'
import type { World } from '../../world/world.ts'
import { SentTask } from './check.ts'
import type { CallbackFault, FrontAnswer } from './faults.ts'

export interface CallbackListener {
  callbackUrl(taskId: string): string
  /** From now on callbacks for this task are received. The first of them meets the fault, if there is one. */
  expect(taskId: string, state: TaskState, fault?: CallbackFault | null): SentTask
  /** Resolves at the next callback of any task, or after `ms`. */
  next(ms: number): Promise<void>
  close(): Promise<void>
}

const PATH = /^\/api\/agent\/tasks\/([^/]+)\/callback$/
const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }
const MAX_BODY_BYTES = 1024 * 1024

/** Listens on a free port of 127.0.0.1. `secret`: what callbacks are signed with. */
export async function listenForCallbacks(world: World, secret: string): Promise<CallbackListener> {
  const tasks = new Map<string, SentTask>()
  const faults = new Map<string, CallbackFault>()
  let waiting: (() => void)[] = []
  const server = http.createServer({ requestTimeout: durations.webhookTimeoutMs }, async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined)
    if (body === undefined) return void response.destroy()
    const task = tasks.get(PATH.exec(request.url ?? '')?.[1] ?? '')
    if (!task || request.method !== 'POST') return end(response, 404, { success: false, error: 'Nothing is here' })
    const pass = async (changed = body): Promise<FrontAnswer> => {
      const { status, response } = task.receive({ headers: request.headers, body: changed }, world.realNow())
      return { status, headers: JSON_HEADERS, body: Buffer.from(JSON.stringify(response)) }
    }
    const fault = faults.get(task.id)
    faults.delete(task.id)
    if (fault) task.forgiveRepeats()
    const answer = fault ? await fault.play({ body }, pass) : await pass()
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body)
    else response.destroy()
    for (const wake of waiting.splice(0)) wake()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    callbackUrl: taskId => `http://127.0.0.1:${port}/api/agent/tasks/${taskId}/callback`,
    expect(taskId, state, fault) {
      const task = new SentTask(taskId, state, secret)
      if (fault) faults.set(taskId, fault)
      tasks.set(taskId, task)
      return task
    },
    next: ms =>
      new Promise(resolve => {
        const timer = setTimeout(done, ms)
        function done() {
          clearTimeout(timer)
          waiting = waiting.filter(wake => wake !== done)
          resolve()
        }
        waiting.push(done)
      }),
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

async function bodyOf(request: http.IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function end(response: http.ServerResponse, status: number, body: object): void {
  response.writeHead(status, JSON_HEADERS).end(JSON.stringify(body))
}
