/**
 * Stands before a marketplace: what agents send to it passes through unchanged and is recorded, and what was prepared happens to it. Its
 * address has a path, as that of a marketplace behind a proxy may have.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pagination } from '../../api/endpoints/calls.ts'
import type { CallbackFault, FrontAnswer } from '../../sim/callbacks/faults.ts'
import { type CallbackNames, callbackIn, forward } from '../../sim/callbacks/pass-on.ts'
import { Bodies, MOST_CONNECTIONS } from '../../sim/callbacks/request-bodies.ts'
import { type HeaderLines, linesOf } from '../../world/header-lines.ts'
import { pause, stopwatch, timedExchange } from '../history/machine-time.ts'

export interface FrontRequest {
  readonly method: string
  /** With the query, as the agent has sent it. */
  readonly path: string
  readonly headers: HeaderLines
  readonly body: Buffer
  /** Of a callback, by signature or by key; null: any other request. */
  readonly callback: CallbackNames | null
  /** What the marketplace said; null: it was not asked. */
  readonly answer: FrontAnswer | null
  readonly fault: { readonly name: string; readonly status: number | null } | null
  /** When it was answered. */
  readonly realAt: number
  readonly ms: number
}

interface Prepared {
  readonly label: string
  readonly taskId: string
  readonly action: string
  readonly fault: CallbackFault
  /** No check waits for it. */
  readonly mayMeetNothing?: boolean
}

interface Waiting extends Prepared {
  left: number
  /** Since the first callback that has met it, in ms. */
  since: (() => number) | null
}

const PREFIX = '/behind/a-proxy'
const TASK_IN = /\/(?:tasks|test)\/([^/?]+)/
const LIST = /^\/api\/tasks(?:\?|$)/

export class CallbackFront {
  readonly #server: http.Server
  readonly #record: (request: FrontRequest) => void
  readonly #prepared = new Set<Waiting>()
  readonly #underWay = new Set<Promise<void>>()
  readonly #bodies = new Bodies()
  readonly #knows: (taskId: string) => boolean
  #target = ''
  #isAway = false
  /** What the marketplace is reached by. */
  url = ''

  /** Fronts that agents take for one, as they have one address of a marketplace: each serves what is about its own tasks. */
  #all: readonly CallbackFront[] = [this]

  /** `knows`: whether a task is of this marketplace. */
  constructor(record: (request: FrontRequest) => void, knows: (taskId: string) => boolean) {
    this.#record = record
    this.#knows = knows
    this.#server = http.createServer({ requestTimeout: 60_000 }, (request, response) => {
      const front = this.#frontOf(request.url ?? '')
      if (front.#isAway) return void response.destroy()
      const serving = front.#serve(request, response).catch(() => void response.destroy())
      front.#underWay.add(serving)
      void serving.then(() => front.#underWay.delete(serving))
    })
    this.#server.maxConnections = MOST_CONNECTIONS
  }

  async listen(host: string): Promise<void> {
    await this.#listenAt(0, host)
    const { port } = this.#server.address() as AddressInfo
    this.url = `http://${host}:${port}${PREFIX}`
  }

  /** Takes no connection for so long, as a marketplace that is started anew. */
  async away(ms: number): Promise<void> {
    const { port, hostname } = new URL(this.url)
    this.#isAway = true
    await this.close()
    await pause(ms)
    await this.#listenAt(Number(port), hostname)
    this.#isAway = false
  }

  #listenAt(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve))
  }

  /** From now on requests go to this marketplace. */
  pass(target: string): void {
    this.#target = target
  }

  /** From now on these serve for each other. */
  static unite(fronts: readonly CallbackFront[]): void {
    for (const front of fronts) front.#all = fronts
  }

  #frontOf(url: string): CallbackFront {
    const [, taskId] = TASK_IN.exec(url) ?? []
    return this.#all.find(front => taskId !== undefined && front.#knows(taskId)) ?? this
  }

  /** The next callbacks with this action about the task meet the fault: so many as it says. */
  prepare(prepared: Prepared): void {
    this.#prepared.add({ ...prepared, left: prepared.fault.times ?? 1, since: null })
  }

  /** Resolves when what has arrived by now is recorded, as the marketplace knows of it sooner; or after `mostMs`. */
  async recorded(mostMs: number): Promise<void> {
    await Promise.race([pause(mostMs), Promise.all(this.#underWay)])
  }

  /** What has met nothing. */
  get unused(): readonly Prepared[] {
    return [...this.#prepared].filter(({ since, mayMeetNothing }) => since === null && !mayMeetNothing)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const times = timedExchange()
    return this.#bodies.read(request, body => this.#answer(request, body, response, times))
  }

  async #answer(
    request: http.IncomingMessage,
    body: Buffer,
    response: http.ServerResponse,
    times: ReturnType<typeof timedExchange>,
  ): Promise<void> {
    const { method = '', url = '' } = request
    const path = url.startsWith(PREFIX) ? url.slice(PREFIX.length) : null
    const callback = path === null ? null : callbackIn(path, body)
    const isList = request.method === 'GET' && path !== null && LIST.test(path)
    const pass = (changed = body) =>
      isList ? this.#listed(request, path) : forward(this.#target + (path ?? url), request, changed)
    let answer: FrontAnswer | null = null
    const noting = async (changed?: Buffer) => {
      answer = await pass(changed)
      return answer
    }
    const fault = callback && this.#take(callback)
    const told = fault ? await fault.play({ body }, noting) : await noting()
    this.#record({
      ...{ method, path: url, headers: linesOf(request.rawHeaders), body, callback, answer, ...times() },
      fault: fault ? { name: fault.name, status: told?.status ?? null } : null,
    })
    if (!told) return void response.destroy()
    response.writeHead(told.status, told.headers).end(told.body)
  }

  /** Who looks for work finds that of all marketplaces that it takes for one. */
  async #listed(request: http.IncomingMessage, path: string): Promise<FrontAnswer> {
    const asked = this.#all.map(front => forward(front.#target + path, request, Buffer.alloc(0)))
    const answers = await Promise.all(asked)
    return answers.find(({ status }) => status !== 200) ?? joined(answers)
  }

  #take({ taskId, action }: { taskId: string; action: string }): CallbackFault | null {
    const one = [...this.#prepared].find(prepared => prepared.taskId === taskId && prepared.action === action)
    if (!one) return null
    const { forMs } = one.fault
    one.since ??= stopwatch()
    const isOver = forMs === undefined ? --one.left === 0 : one.since() > forMs
    if (isOver) this.#prepared.delete(one)
    return isOver && forMs !== undefined ? null : one.fault
  }
}

interface TaskList {
  readonly data: { readonly tasks: readonly unknown[]; readonly pagination: Pagination }
}

function joined(answers: readonly FrontAnswer[]): FrontAnswer {
  const lists = answers.map(({ body }) => (JSON.parse(body.toString()) as TaskList).data)
  const { page, limit } = lists[0]!.pagination
  const those = lists.map(({ pagination }) => pagination)
  const pagination: Pagination = {
    ...{ page, limit },
    total: those.reduce((sum, { total }) => sum + total, 0),
    totalPages: Math.max(...those.map(({ totalPages }) => totalPages)),
    hasMore: those.some(({ hasMore }) => hasMore),
  }
  const tasks = lists.flatMap(list => list.tasks)
  return { ...answers[0]!, body: Buffer.from(JSON.stringify({ success: true, data: { tasks, pagination } })) }
}
