/**
 * What a program asks of Node and its machine, all of it under one seed: clocks, timers, chance, a port to listen on. Replaced
 * for the whole process, so that no call in `src` or in a package is forgotten. Only setImmediate and the queues of promises
 * and ticks stay Node's own: they run in the order in which they were filled.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import timers from 'node:timers/promises'
import type { Chance } from '../../src/world/chance.ts'
import type { Timer } from '../../src/world/world.ts'

export interface Surroundings {
  realNow(): number
  after(ms: number, work: () => void): Timer
  readonly chance: Chance
}

let around: Surroundings
let servers: net.Server[] = []
const waiting = new Set<SimulatedTimeout>()

/** What is asked from now on is asked of these. The timers that were set before are gone. */
export function runIn(surroundings: Surroundings): void {
  around = surroundings
  dropTimers()
}

/** As a process that ends does. */
export function dropTimers(): void {
  for (const timer of waiting) timer.close()
}

/** The servers that have begun to listen since the last call. */
export function listening(): net.Server[] {
  const all = servers
  servers = []
  return all
}

class SimulatedTimeout {
  readonly #work: () => void
  readonly #ms: number
  readonly #again: boolean
  #timer: Timer

  constructor(work: () => void, ms: number, again: boolean) {
    this.#work = work
    this.#ms = Math.max(Number(ms) || 1, 1)
    this.#again = again
    this.#timer = this.#set()
  }

  #set(): Timer {
    waiting.add(this)
    return around.after(this.#ms, () => {
      waiting.delete(this)
      if (this.#again) this.#timer = this.#set()
      this.#work()
    })
  }

  ref = () => this
  unref = () => this
  hasRef = () => false
  refresh() {
    this.#timer.cancel()
    this.#timer = this.#set()
    return this
  }
  close() {
    this.#timer.cancel()
    waiting.delete(this)
    return this
  }
}

type Callback = (...given: unknown[]) => void

const started =
  (again: boolean) =>
  (work: Callback, ms = 1, ...given: unknown[]) =>
    new SimulatedTimeout(() => work(...given), ms, again)

const ended = (timer: unknown) => {
  if (timer instanceof SimulatedTimeout) timer.close()
}

class SimulatedDate extends Date {
  constructor(...given: [] | [number | string | Date]) {
    if (given.length === 0) super(around.realNow())
    else super(...given)
  }
  static override now = () => around.realNow()
}

function filled<Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes {
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).set(around.chance.bytes(bytes.byteLength))
  return bytes
}

function uuid(): string {
  const hex = around.chance.bytes(16).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join('-')
}

/** Replaces them, once for the process. */
export function replaceNode(first: Surroundings): void {
  around = first
  Object.assign(globalThis, {
    setTimeout: started(false),
    setInterval: started(true),
    clearTimeout: ended,
    clearInterval: ended,
    Date: SimulatedDate,
  })
  Object.assign(timers, {
    setTimeout: (ms: number, value: unknown) => new Promise(go => started(false)(() => go(value), ms)),
  })
  performance.now = () => around.realNow() - FIRST_MS
  process.uptime = () => (around.realNow() - FIRST_MS) / 1_000
  Math.random = () => around.chance.fraction()
  Object.assign(crypto, {
    randomBytes: (count: number) => around.chance.bytes(count),
    randomFillSync: filled,
    randomUUID: uuid,
    randomInt: (from: number, to?: number) => {
      const [least, end] = to === undefined ? [0, from] : [from, to]
      return least + Math.floor(around.chance.fraction() * (end - least))
    },
  })
  Object.assign(globalThis.crypto, { getRandomValues: filled, randomUUID: uuid })
  // The engine would compile it in threads of the system.
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyObject }
  WebAssembly.instantiate = async (program, imports) => new WebAssembly.Instance(program, imports)
  // A server that listens is found by `listening`, and is given its connections by hand.
  net.Server.prototype.listen = function (this: net.Server, ...given: unknown[]) {
    servers.push(this)
    this.address = () => ({ address: '127.0.0.1', family: 'IPv4', port: 4000 })
    const told = given.find(one => typeof one === 'function') as (() => void) | undefined
    if (told) this.once('listening', told)
    queueMicrotask(() => this.emit('listening'))
    return this
  }
  syncBuiltinESMExports()
}

interface WebAssemblyObject {
  instantiate(program: unknown, imports: unknown): Promise<unknown>
  Instance: new (program: unknown, imports: unknown) => unknown
}

const FIRST_MS = Date.UTC(2025, 0, 1)
