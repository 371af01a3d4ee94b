/** What all processes of a storm stand on: one clock, one source of chance, the story, and what is under way. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { FileStore } from '../../src/store/files/file-store.ts'
import { seededChance } from '../../src/world/chance.ts'
import { createVirtualWorld, type VirtualWorld } from '../../src/world/virtual.ts'
import type { Egress, Mail, MailResult, Timer } from '../../src/world/world.ts'
import { runIn } from './node.ts'

/** What a storm has found: a promise that the marketplace did not keep. */
export class Broken extends Error {}

/** After so many turns of the event loop in which nothing moves, nothing is under way that does not wait for time. */
const QUIET_TURNS = 4
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Many, since a request whose bytes go through threads of the system is waited for. */
const MOST_TURNS = 5_000_000
/** Far more than is done without that time goes by: who claims and gives back without end fills the memory before all turns are over. */
const MOST_MOVES = 5_000
/** And far more than falls due in two days. */
const MOST_STEPS = 50_000

/** Counted from the start of the process, so it is no part of a story. */
const REQUEST_ID = /\b[0-9a-f]{12}-[0-9a-z]{1,6}\b/g

export class Ground {
  readonly world: VirtualWorld
  readonly files = keptFiles()
  readonly #story = createHash('sha256')
  readonly #lines: string[] | null
  /** Timers that are set while the machine stands still. */
  #waking: (() => void)[] | null = null
  /** Deliveries that were sent while a living process was sending them. */
  readonly doubles: string[] = []
  /** Who sends a delivery, and since when. */
  readonly flying = new Map<string, { state: { isDead: boolean }; at: number }>()
  /** Counts whatever moves. */
  moved = 0
  /** How many requests pass through threads of the system, or wait to. */
  #inThreads = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(seed: string, { startMs, egress, tells }: { startMs?: number; egress: Egress; tells: boolean }) {
    this.world = createVirtualWorld({ seed, egress, ...(startMs !== undefined && { startMs }) })
    this.#lines = tells ? [] : null
    runIn({ realNow: this.world.realNow, after: this.after, chance: seededChance(`${seed} of Node`) })
  }

  readonly move = () => {
    this.moved++
  }

  tell(line: string): void {
    const told = line.replace(REQUEST_ID, 'a request')
    this.#story.update(told).update('\n')
    this.#lines?.push(told)
  }

  get lines(): readonly string[] {
    return this.#lines ?? []
  }

  /** Of all that was told. */
  get digest(): string {
    return this.#story.copy().digest('hex')
  }

  /** Resolves when nothing moves but by time. */
  settled = (): Promise<void> => this.#quiet(() => this.#inThreads === 0)

  /** Does what passes through threads of the system: they end in any order, so it is alone while it lasts. */
  throughThreads<T>(work: () => Promise<T>): Promise<T> {
    this.#inThreads++
    const done = this.#last
      .then(() => this.#quiet(() => true))
      .then(work)
      .finally(() => {
        this.#inThreads--
      })
    this.#last = done.catch(() => {})
    return done
  }

  async #quiet(may: () => boolean): Promise<void> {
    const from = this.moved
    let turns = 0
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const before = this.moved
      await turn()
      quiet = this.moved === before && may() ? quiet + 1 : 0
      const [double] = this.doubles
      if (double !== undefined) throw new Broken(`${double} was sent twice at once`)
      if (++turns > MOST_TURNS || this.moved - from > MOST_MOVES) throw new Broken('it never comes to rest')
    }
  }

  /** Time goes by, in small steps: whatever falls due ends before more of it does. */
  async pass(ms: number): Promise<void> {
    const { world } = this
    const end = world.realNow() + ms
    let steps = 0
    for (let next = world.nextTimer(); next !== undefined && next <= end; next = world.nextTimer()) {
      if (++steps > MOST_STEPS) throw new Broken('it wakes itself without end')
      world.tick(Math.max(0, next - world.realNow()))
      await this.settled()
    }
    world.tick(end - world.realNow())
    await this.settled()
  }

  /** The machine stands still: all that was due meanwhile falls due at once, and what is repeated once. */
  async stall(ms: number): Promise<void> {
    const waking: (() => void)[] = []
    this.#waking = waking
    this.world.tick(ms)
    this.#waking = null
    for (const set of waking) set()
    await this.settled()
  }

  /** As the world's, but for a machine that stands still. */
  readonly after = (ms: number, work: () => void): Timer => {
    if (!this.#waking) return this.world.after(ms, work)
    let timer: Timer | undefined
    let isCancelled = false
    this.#waking.push(() => {
      if (!isCancelled) timer = this.world.after(ms, work)
    })
    return {
      cancel() {
        isCancelled = true
        timer?.cancel()
      },
    }
  }

  readonly everyHours = (hours: number, work: () => void): Timer => {
    const stepMs = hours * 3_600_000
    const plan = (): Timer =>
      this.after(stepMs - (this.world.realNow() % stepMs), () => {
        upcoming = plan()
        work()
      })
    let upcoming = plan()
    return { cancel: () => upcoming.cancel() }
  }
}

let incoming: string | undefined

/** Uploaded files. They arrive in a folder of the real disk, and are kept here. */
function keptFiles(): FileStore {
  if (incoming === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'marketplace-storm-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    incoming = folder
  }
  const kept = new Map<string, Buffer>()
  return {
    incoming,
    async keep(id, path) {
      kept.set(id, readFileSync(path))
      rmSync(path)
    },
    async read(id) {
      const bytes = kept.get(id)
      if (!bytes) throw new Error(`${id} is not there`)
      return Readable.from([bytes])
    },
    async remove(id) {
      kept.delete(id)
    },
    async close() {},
  }
}

/** What became of a mail. */
export type Post = (mail: Mail) => MailResult
