/** Faults that wait for the next webhook or callback that they are meant for, in a simulator. Each is met once. Source: A-264. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { type CallbackFaultName, type FaultName, faults, type WebhookFaultName } from '../api/faults.ts'
import type { OutgoingResult } from '../world/world.ts'
import { callbackFaults } from './callbacks/faults.ts'
import { type CallbackNames, callbackIn, forward, isCallback } from './callbacks/pass-on.ts'
import { Bodies } from './callbacks/request-bodies.ts'
import { type Renew, webhookFaultOf } from './webhooks/faults.ts'

interface Wanted {
  readonly name: FaultName
  readonly on: string | null
  readonly agentId: string | null
  readonly forTaskId: string | null
}

interface Armed extends Wanted {
  readonly id: string
  readonly armedAt: number
  readonly taskId: string | null
  readonly metAt: number | null
}

/** What a webhook or a callback is, for which a fault may wait. */
interface About {
  readonly on: string
  readonly taskId: string
  readonly agentId: string | null
}

interface Way<Signed> {
  send(signed: Signed, fault: FaultName | null): Promise<OutgoingResult>
  renew: Renew<Signed>
}

/** A fault was met. */
export interface Met extends About {
  readonly type: 'fault'
  readonly fault: FaultName
}

const MOST_WAITING = 100
const MOST_MET = 20
/** Of so many tasks it is known whose they are. */
const MOST_TASKS = 1_000
/** Nobody waits longer for the next webhook. */
const OVERTAKEN_MS = 30_000
/** On a callback that has been here already. */
const PASSED_ON = 'x-passed-on'

export class FaultBoard {
  #waiting: Armed[] = []
  readonly #met: Armed[] = []
  readonly #agentOf = new Map<string, string>()
  /** Who waits for the next webhook to an agent. */
  readonly #behind = new Map<string, (() => void)[]>()
  readonly #metBy = new WeakMap<readonly string[], FaultName>()
  readonly #bodies = new Bodies()
  readonly #log: (met: Met) => void
  readonly #newToken: () => string
  readonly #now: () => number
  #token: string | null = null
  #count = 0

  /** `newToken`: makes a word that no agent knows. It is asked for late, as a seeded world counts what it gives. */
  constructor(log: (met: Met) => void, newToken: () => string, now: () => number) {
    this.#log = log
    this.#now = now
    this.#newToken = newToken
  }

  arm({ name, on, agentId, forTaskId }: Wanted): Armed | null {
    if (this.#waiting.length >= MOST_WAITING) return null
    this.#token ??= this.#newToken()
    const wanted = { name, on, agentId, forTaskId }
    const armed = { id: `fault_${++this.#count}`, ...wanted, armedAt: this.#now(), taskId: null, metAt: null }
    this.#waiting.push(armed)
    return armed
  }

  all(): readonly Armed[] {
    return [...this.#waiting, ...this.#met]
  }

  clear(only?: string): readonly Armed[] {
    const cleared = this.#waiting.filter(({ id }) => only === undefined || id === only)
    this.#waiting = this.#waiting.filter(one => !cleared.includes(one))
    return cleared
  }

  async webhook<Signed>(
    { taskId, agentId, body }: { taskId: string; agentId: string; body: string },
    signed: Signed,
    { send, renew }: Way<Signed>,
  ): Promise<OutgoingResult & { fault?: FaultName }> {
    // Connection tests say whether an agent can be hired, so they are left alone.
    if (taskId.startsWith('test_')) return send(signed, null)
    this.#remember(taskId, agentId)
    const armed = this.#waitsFor('webhook') ? this.#take('webhook', { on: eventIn(body), taskId, agentId }) : null
    if (!armed) return send(signed, null).finally(() => this.#passed(agentId))
    const overtaken = () => this.#next(agentId)
    const fault = webhookFaultOf<Signed>(armed.name as WebhookFaultName, { renew, overtaken })
    const result = await fault.play(signed, (one: Signed) => send(one, armed.name))
    if (armed.name !== 'overtaken') this.#passed(agentId)
    return { ...result, fault: armed.name }
  }

  /** What stands before the server of the marketplace, and lets everything through that nothing waits for. */
  around(serve: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#hasPassed(request) || !this.#waitsFor('callback') || !isCallback(request.url ?? ''))
        return serve(request, response)
      void this.#callback(request, response).catch(() => void response.destroy())
    }
  }

  #callback(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#bodies.read(request, async body => {
      const { localAddress = '', localPort } = request.socket
      const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress
      const url = `http://${host}:${localPort}${request.url}`
      const armed = this.#faultOf(callbackIn(request.url ?? '', body))
      const pass = (changed = body) => forward(url, request, changed, [[PASSED_ON, `${this.#token} ${armed ?? ''}`]])
      const answer = armed ? await callbackFaults[armed].play({ body }, pass) : await pass()
      if (!answer) return void response.destroy()
      response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length }).end(answer.body)
    })
  }

  metBy(rawHeaders: readonly string[]): FaultName | null {
    return this.#metBy.get(rawHeaders) ?? null
  }

  #faultOf(callback: CallbackNames | null): CallbackFaultName | null {
    if (!callback || callback.taskId.startsWith('test_')) return null
    const { taskId, action: on } = callback
    const armed = this.#take('callback', { on, taskId, agentId: this.#agentOf.get(taskId) ?? null })
    return armed && (armed.name as CallbackFaultName)
  }

  /** Nobody sees the header that says so. */
  #hasPassed(request: IncomingMessage): boolean {
    const { headers, rawHeaders } = request
    const [token, met] = String(headers[PASSED_ON] ?? '').split(' ')
    if (this.#token === null || token !== this.#token) return false
    if (met) this.#metBy.set(rawHeaders, met as FaultName)
    delete headers[PASSED_ON]
    rawHeaders.splice(
      rawHeaders.findIndex(name => name.toLowerCase() === PASSED_ON),
      2,
    )
    return true
  }

  #waitsFor(direction: 'webhook' | 'callback'): boolean {
    return this.#waiting.some(({ name }) => faults[name].direction === direction)
  }

  #take(direction: 'webhook' | 'callback', about: About): Armed | null {
    const armed = this.#waiting.find(
      ({ name, on, agentId, forTaskId }) =>
        faults[name].direction === direction &&
        (on === null || on === about.on) &&
        (agentId === null || agentId === about.agentId) &&
        (forTaskId === null || forTaskId === about.taskId),
    )
    if (!armed) return null
    this.#waiting = this.#waiting.filter(one => one !== armed)
    this.#met.push({ ...armed, taskId: about.taskId, metAt: this.#now() })
    if (this.#met.length > MOST_MET) this.#met.shift()
    this.#log({ type: 'fault', fault: armed.name, ...about })
    return armed
  }

  #remember(taskId: string, agentId: string): void {
    this.#agentOf.delete(taskId)
    this.#agentOf.set(taskId, agentId)
    const [oldest] = this.#agentOf.keys()
    if (this.#agentOf.size > MOST_TASKS) this.#agentOf.delete(oldest!)
  }

  #next(agentId: string): Promise<unknown> {
    const next = new Promise<void>(resolve => {
      this.#behind.set(agentId, [...(this.#behind.get(agentId) ?? []), resolve])
    })
    return Promise.race([next, setTimeout(OVERTAKEN_MS, undefined, { ref: false })])
  }

  #passed(agentId: string): void {
    const waiting = this.#behind.get(agentId) ?? []
    this.#behind.delete(agentId)
    for (const wake of waiting) wake()
  }
}

function eventIn(body: string): string {
  try {
    return String(JSON.parse(body).event)
  } catch {
    return '?'
  }
}
