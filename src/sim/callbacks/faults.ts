/** What may happen to a callback on its way to the marketplace, and to the answer on its way back. */
import { setTimeout } from 'node:timers/promises'
import type { CallbackFaultName } from '../../api/faults.ts'

/** What the marketplace answered, or what the agent is told. null: the connection is cut. */
export interface FrontAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface CallbackFault {
  readonly name: string
  /** So many callbacks meet it, one after the other; 1 unless given. */
  readonly times?: number
  /** In place of `times`: all that come within so many ms of the first meet it, and the first. */
  readonly forMs?: number
  play(callback: { body: Buffer }, pass: (body?: Buffer) => Promise<FrontAnswer>): Promise<FrontAnswer | null>
}

const told = (status: number, headers: Record<string, string> = {}): FrontAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: Buffer.from(JSON.stringify({ success: false, error: words[status] })),
})

const words: Readonly<Record<number, string>> = {
  307: 'Moved',
  409: 'Somebody else was faster',
  429: 'Too many requests',
  502: 'Bad gateway',
  503: 'Not available at this moment',
}

/** It is done, and the agent does not learn of it. */
export const answerCut: CallbackFault = {
  name: 'answer cut',
  async play(_callback, pass) {
    await pass()
    return null
  },
}

/** It is done, and the agent is told something else. */
export const badGateway: CallbackFault = {
  name: 'bad gateway',
  async play(_callback, pass) {
    await pass()
    return told(502)
  },
}

/** It is done, and the agent learns of it late. */
export const answeredAfter = (ms: number): CallbackFault => ({
  name: 'late answer',
  async play(_callback, pass) {
    const answer = await pass()
    await setTimeout(ms, undefined, { ref: false })
    return answer
  },
})

/** It is on its way until `until` resolves. `begins`: hears that it has come so far. */
export const onItsWayUntil = (until: Promise<unknown>, begins: () => void): CallbackFault => ({
  name: 'on its way',
  async play(_callback, pass) {
    begins()
    await until
    return pass()
  },
})

/** It is done, and the agent learns of it when `until` resolves. */
export const answeredWhen = (until: Promise<unknown>): CallbackFault => ({
  name: 'late answer',
  async play(_callback, pass) {
    const answer = await pass()
    await until
    return answer
  },
})

/** It never arrives. */
export const unavailable = (times: number): CallbackFault => ({
  name: 'unavailable',
  times,
  play: async () => told(503),
})
export const tooMany = (seconds: number): CallbackFault => ({
  name: 'too many requests',
  play: async () => told(429, { 'retry-after': String(seconds) }),
})
export const lostRace: CallbackFault = { name: 'lost race', play: async () => told(409) }
export const redirected = (location: string): CallbackFault => ({
  name: 'redirect',
  play: async () => told(307, { location }),
})
/** Lasts for so many ms from the first callback that meets it. */
export const lasting = (ms: number, fault: CallbackFault): CallbackFault => ({ ...fault, forMs: ms })

/** A byte of the body is another when it arrives. */
export const byteChanged: CallbackFault = {
  name: 'changed byte',
  play(callback, pass) {
    const body = Buffer.from(callback.body)
    body[body.length - 1]! ^= 1
    return pass(body)
  },
}

const LATE_MS = 10_000
const RETRY_AFTER_S = 2

/** By the names that people give. */
export const callbackFaults: Readonly<Record<CallbackFaultName, CallbackFault>> = {
  'response-lost': answerCut,
  'bad-gateway': badGateway,
  'late-response': answeredAfter(LATE_MS),
  unavailable: unavailable(1),
  'too-many': tooMany(RETRY_AFTER_S),
  'lost-race': lostRace,
  redirect: redirected('/moved'),
  'changed-byte': byteChanged,
}
