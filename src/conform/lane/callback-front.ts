/**
 * Stands before a marketplace: what agents send to it passes through unchanged and is recorded, and what was prepared happens to it. Its
 * address has a path, as that of a marketplace behind a proxy may have.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HeaderLines } from '../../world/world.ts'
import { machineNow, pause, stopwatch } from '../time.ts'
import type { CallbackFault, FrontAnswer } from './callback-faults.ts'

export interface FrontRequest {
  readonly method: string
  /** With the query, as the agent has sent it. */
  readonly path: string
  readonly headers: HeaderLines
  readonly body: Buffer
  /** Of a callback, by signature or by key; null: any other request. */
  readonly callback: { readonly taskId: string; readonly action: string; readonly signed: boolean } | null
  /** What the marketplace said; null: it was not asked. */
  readonly answer: FrontAnswer | null
  readonly fault: { readonly name: string; readonly status: number | null } | null
  readonly arrivedAt: number
  readonly ms: number
}

interface Prepared {
  readonly label: string
  readonly taskId: string
  readonly action: string
  readonly fault: CallbackFault
}

interface Waiting extends Prepared {
  left: number
  /** Since the first callback that has met it, in ms. */
  since: (() => number) | null
}

/** Files of a deliverable fit in. */
const MOST_BYTES = 64 * 1024 * 1024
const PREFIX = '/behind/a-proxy'
const BY_SIGNATURE = /^\/api\/agent\/(?:tasks|test)\/([^/?]+)\/callback(?:\?|$)/
const BY_KEY = /^\/api\/agent\/tasks\/([^/?]+)\/(accept|reject|deliver)(?:\?|$)/

export class CallbackFront {
  readonly #server: http.Server
  readonly #record: (request: FrontRequest) => void
  readonly #prepared = new Set<Waiting>()
  readonly #underWay = new Set<Promise<void>>()
  #target = ''
  /** What the marketplace is reached by. */
  url = ''

  constructor(record: (request: FrontRequest) => void) {
    this.#record = record
    this.#server = http.createServer({ requestTimeout: 60_000 }, (request, response) => {
      const serving = this.#serve(request, response).catch(() => void response.destroy())
      this.#underWay.add(serving)
      void serving.then(() => this.#underWay.delete(serving))
    })
  }

  async listen(host: string): Promise<void> {
    await this.#listenAt(0, host)
    const { port } = this.#server.address() as AddressInfo
    this.url = `http://${host}:${port}${PREFIX}`
  }

  /** Takes no connection for so long, as a marketplace that is started anew. */
  async away(ms: number): Promise<void> {
    const { port, hostname } = new URL(this.url)
    await this.close()
    await pause(ms)
    await this.#listenAt(Number(port), hostname)
  }

  #listenAt(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve))
  }

  /** From now on requests go to this marketplace. */
  pass(target: string): void {
    this.#target = target
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
    return [...this.#prepared].filter(({ since }) => since === null)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const arrivedAt = machineNow()
    const elapsed = stopwatch()
    const body = await bodyOf(request)
    const { method = '', url = '' } = request
    const path = url.startsWith(PREFIX) ? url.slice(PREFIX.length) : null
    const callback = path === null ? null : callbackIn(path, body)
    const pass = (changed = body) => forward(this.#target + (path ?? url), request, changed)
    let answer: FrontAnswer | null = null
    const noting = async (changed?: Buffer) => {
      answer = await pass(changed)
      return answer
    }
    const fault = callback && this.#take(callback)
    const told = fault ? await fault.play({ body }, noting) : await noting()
    this.#record({
      ...{ method, path: url, headers: linesIn(request.rawHeaders), body, callback, answer, arrivedAt },
      fault: fault ? { name: fault.name, status: told?.status ?? null } : null,
      ms: elapsed(),
    })
    if (!told) return void response.destroy()
    response.writeHead(told.status, told.headers).end(told.body)
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

async function bodyOf(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('The body is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function callbackIn(path: string, body: Buffer): FrontRequest['callback'] {
  const [, signedTask] = BY_SIGNATURE.exec(path) ?? []
  if (signedTask !== undefined) return { taskId: signedTask, action: actionIn(body), signed: true }
  const [, taskId, action] = BY_KEY.exec(path) ?? []
  return taskId === undefined ? null : { taskId, action: action!, signed: false }
}

function actionIn(body: Buffer): string {
  try {
    const { action } = JSON.parse(body.toString())
    return typeof action === 'string' ? action : '?'
  } catch {
    return '?'
  }
}

/** What belongs to one connection alone. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host', 'content-length', 'expect'])

async function forward(url: string, { method, rawHeaders }: http.IncomingMessage, body: Buffer): Promise<FrontAnswer> {
  const headers = linesIn(rawHeaders).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, setHost: true }, async response => {
      const chunks = await response.toArray().catch(reject)
      if (!chunks) return
      const kept = linesIn(response.rawHeaders).filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
      resolve({ status: response.statusCode!, headers: Object.fromEntries(kept), body: Buffer.concat(chunks) })
    })
    for (const [name, value] of headers) request.appendHeader(name, value)
    request.once('error', reject).end(body)
  })
}

function linesIn(raw: readonly string[]): HeaderLines {
  const lines: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) lines.push([raw[at]!, raw[at + 1]!])
  return lines
}
