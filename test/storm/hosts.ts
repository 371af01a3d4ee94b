/** Where the marketplace runs in a storm: one process with a disk of its own, or two instances with a database between them. */
import type { Db } from '../../src/store/db.ts'
import type { Random } from '../differential/random-values.ts'
import { MemoryDisk } from '../store/memory-disk.ts'
import type { Machine } from '../store/page-cache.ts'
import type { WireAnswer, WireHeader } from '../support/wire.ts'
import { connected } from './connection.ts'
import { Broken, type Ground, type Post } from './ground.ts'
import { dropTimers } from './node.ts'
import { openOn, Service } from './service.ts'
import type { Town } from './town.ts'

export interface Host {
  /** To be asked in a moment of rest alone. */
  readonly db: Db
  /** A process is dead that should run. */
  readonly needsStart: boolean
  /** Something has been done to it since it was calm, so that it may answer 5xx. */
  readonly isStruck: boolean
  readonly starts: number
  /** Starts whatever is dead. */
  start(): Promise<void>
  exchange(
    method: string,
    target: string,
    headers: WireHeader[],
    body: string | Buffer | undefined,
  ): Promise<WireAnswer | null>
  runDue(): Promise<void>
  /** Does something bad, now or soon. Returns its name. */
  blow(): string
  /** Nothing bad happens any more. */
  calm(): void
  /** The machine loses its power. */
  stopAtOnce(): void
  skew(ms: number): void
  errors(): string[]
  contents(): Promise<string>
  close(): Promise<void>
}

export const hostOf = (ground: Ground, town: Town, random: () => Random, post: Post): Host =>
  random().often(0.7) ? new OneProcess(ground, town, random, post) : new TwoInstances(ground, town, random, post)

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

const blows = ['kill', 'power', 'kill soon', 'power soon', 'EIO', 'ENOSPC', 'EMFILE', 'stop'] as const

class OneProcess implements Host {
  readonly #ground: Ground
  readonly #random: () => Random
  readonly #post: Post
  #machine: Machine
  #disk!: MemoryDisk
  #service: Service | null = null
  #dead: Service | null = null
  #pending: (() => void) | null = null
  /** Turns that calls of the disk take until the next blow falls. */
  #fuse: number | null = null
  #skewMs = 0
  isStruck = false
  starts = -1

  constructor(ground: Ground, { machine }: Town, random: () => Random, post: Post) {
    this.#ground = ground
    this.#machine = machine
    this.#random = random
    this.#post = post
  }

  get db() {
    return this.#service!.db
  }

  get needsStart() {
    return this.#service === null
  }

  errors() {
    const errors = this.#service?.errors.splice(0) ?? []
    return this.isStruck ? [] : errors
  }

  async start() {
    await this.#dead?.bury()
    this.#dead = null
    this.#ground.tell('start')
    this.isStruck = false
    this.starts++
    this.#disk = new MemoryDisk(this.#machine)
    const disk = this.#disk
    let ended = false
    disk.pace = async () => {
      // One that takes long leaves time for what should have waited for it.
      for (let left = this.#random().often(0.8) ? 1 : this.#random().from(2, 12); left > 0; left--) {
        this.#ground.move()
        if (this.#fuse !== null && disk === this.#disk && this.#fuse-- <= 0) this.#light()
        await turn()
      }
      this.#ground.move()
    }
    try {
      this.#service = await Service.start({
        ground: this.#ground,
        open: options => openOn(disk, options),
        skewMs: () => this.#skewMs,
        post: this.#post,
        onFatal: () => {
          ended = true
          if (disk === this.#disk) this.#end(this.#disk.now())
        },
      })
      if (ended) this.#end(disk.now())
    } catch (error) {
      throw new Broken(`it does not start: ${(error as Error).stack}`)
    }
  }

  exchange: Host['exchange'] = async (...request) => this.#service?.exchange(...request) ?? null

  async runDue() {
    await this.#service?.runDue().catch(error => {
      if (!this.isStruck) throw error
    })
  }

  blow() {
    const random = this.#random()
    const what = random.pick(blows)
    this.isStruck = true
    const soon = random.below(30)
    if (what === 'kill') this.#kill()
    else if (what === 'power') this.stopAtOnce()
    else if (what === 'kill soon') this.#later(soon, () => this.#kill())
    else if (what === 'power soon') this.#later(soon, () => this.stopAtOnce())
    else if (what === 'stop') this.#later(soon, () => this.#kill())
    else this.#disk.fault = { at: this.#disk.count + 1 + random.below(14), code: what, sticky: random.often(0.6) }
    return what
  }

  #later(calls: number, work: () => void) {
    this.#fuse = calls
    this.#pending = work
  }

  #light() {
    this.#fuse = null
    this.#pending?.()
  }

  calm() {
    this.#fuse = null
    if (!this.#service) return
    this.#disk.fault = null
    this.errors()
    this.isStruck = false
  }

  #kill() {
    if (this.#service) this.#end(this.#disk.now())
  }

  stopAtOnce() {
    if (!this.#service) return
    const random = this.#random()
    this.#end(this.#disk.now().restarted(() => random.below(2 ** 31) / 2 ** 31))
  }

  /** The process is gone, and this is what it leaves. */
  #end(left: Machine) {
    this.#machine = left
    const service = this.#service
    this.#service = null
    this.#disk.fault = { at: 0, code: 'EIO', sticky: true }
    this.#fuse = null
    service?.kill()
    this.#dead = service
    dropTimers()
  }

  skew(ms: number) {
    this.#skewMs = ms
  }

  contents = () => contentsOf(this.db)

  async close() {
    const service = this.#service ?? this.#dead
    this.#service?.kill()
    await service?.bury()
  }
}

class TwoInstances implements Host {
  readonly #ground: Ground
  readonly #random: () => Random
  readonly #post: Post
  readonly #disk: MemoryDisk
  #shared: Db | null = null
  readonly #services: (Service | null)[] = [null, null]
  readonly #skews = [0, 0]
  #faults = 0
  isStruck = false
  starts = -2

  constructor(ground: Ground, { machine }: Town, random: () => Random, post: Post) {
    this.#ground = ground
    this.#disk = new MemoryDisk(machine)
    this.#random = random
    this.#post = post
  }

  get db() {
    return this.#shared!
  }

  get needsStart() {
    return this.#services.includes(null)
  }

  errors() {
    const errors = this.#services.flatMap(service => service?.errors.splice(0) ?? [])
    return this.isStruck ? [] : errors
  }

  async start() {
    this.#shared ??= await openOn(this.#disk, {
      onFatal: error => {
        throw error
      },
    })
    for (const [at, service] of this.#services.entries()) if (!service) this.#services[at] = await this.#open(at)
  }

  #open(at: number) {
    this.#ground.tell(`start of ${at}`)
    this.starts++
    const way = {
      pace: async () => {
        this.#ground.move()
        await turn()
        this.#ground.move()
      },
      fate: () => this.#fate(),
      isDead: () => isDead,
    }
    let isDead = false
    const starting = Service.start({
      ground: this.#ground,
      open: async () => connected(this.#shared!, way),
      skewMs: () => this.#skews[at]!,
      post: this.#post,
      onFatal: () => {},
    })
    return starting.then(service => {
      const kill = service.kill.bind(service)
      service.kill = () => {
        isDead = true
        kill()
      }
      return service
    })
  }

  #fate() {
    if (this.#faults === 0 || this.#random().often(0.6)) return 'arrives'
    this.#faults--
    return this.#random().pick(['is lost', 'loses its answer'] as const)
  }

  exchange: Host['exchange'] = async (...request) => {
    const first = this.#random().below(2)
    const service = this.#services[first] ?? this.#services[1 - first]
    return service?.exchange(...request) ?? null
  }

  async runDue() {
    const due = this.#services.map(service => service?.runDue())
    await Promise.all(due).catch(error => {
      if (!this.isStruck) throw error
    })
  }

  blow() {
    const random = this.#random()
    this.isStruck = true
    if (random.often(0.5)) {
      this.#faults = random.from(1, 6)
      return 'the connection fails'
    }
    const at = random.below(2)
    const service = this.#services[at]
    const turns = random.below(25)
    const kill = async () => {
      for (let left = turns; left > 0; left--) {
        this.#ground.move()
        await turn()
      }
      service?.kill()
      if (this.#services[at] === service) this.#services[at] = null
    }
    void kill()
    return `instance ${at} dies`
  }

  calm() {
    this.#faults = 0
    this.errors()
    this.isStruck = false
  }

  stopAtOnce() {
    for (const [at, service] of this.#services.entries()) {
      service?.kill()
      this.#services[at] = null
    }
  }

  skew(ms: number) {
    this.#skews[this.#random().below(2)] = ms
  }

  contents = () => contentsOf(this.db)

  async close() {
    this.stopAtOnce()
    await this.#shared?.close()
  }
}

/** Every row. */
const contentsOf = (db: Db): Promise<string> =>
  db.read(async q => {
    const tables = await q.all<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
    const rows = []
    for (const { name } of tables) rows.push([name, await q.all(`SELECT * FROM ${name} ORDER BY 1, 2`)])
    return JSON.stringify(rows)
  })
