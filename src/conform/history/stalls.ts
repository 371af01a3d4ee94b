/**
 * Measures what nobody but the machine is to blame for: how long the run itself stood still, and how long the agent's processes were ready to
 * go on and got no processor, or waited for a disk. Judgements in time are made against it. Source: A-286.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { stopwatch } from './machine-time.ts'
import type { EventSink } from './recorder.ts'

/** So often it is looked. */
const EVERY_MS = 250
/** Less in one look is usual on an idle machine. */
const LEAST_MS = 25
/** Of an agent: more processes and threads are not looked at. */
const MOST_PROCESSES = 64
const NANOS = 1e6

export class StallWatch {
  readonly #recorder: EventSink
  readonly #pid: () => number | undefined
  readonly #proc: string
  #timer: NodeJS.Timeout
  #looking: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #waited = new Map<string, number>()

  /** `pid`: the first process of the agent; undefined while it does not run, or is not ours. `proc`: where the system tells of processes. */
  constructor(recorder: EventSink, pid: () => number | undefined, proc = '/proc') {
    this.#recorder = recorder
    this.#pid = pid
    this.#proc = proc
    this.#timer = this.#next()
  }

  #next(): NodeJS.Timeout {
    const elapsed = stopwatch()
    return setTimeout(() => {
      this.#looking = this.#look(elapsed)
    }, EVERY_MS).unref()
  }

  async #look(elapsed: () => number): Promise<void> {
    const agent = await this.#agentMs()
    if (this.#isClosed) return
    const ms = elapsed()
    // What it took to look is the machine's too.
    const [ofRun, ofAgent] = [ms - EVERY_MS, agent].map(one => Math.round(Math.min(one, ms)))
    if (ofRun! >= LEAST_MS || ofAgent! >= LEAST_MS)
      this.#recorder.add({ kind: 'stall', run: Math.max(0, ofRun!), agent: ofAgent!, ms })
    this.#timer = this.#next()
  }

  /** Of the thread that has waited longest since the last look. */
  async #agentMs(): Promise<number> {
    const pid = this.#pid()
    if (pid === undefined) return 0
    const before = this.#waited
    const now = new Map<string, number>()
    let stopped = false
    for (const process of await familyOf(`${this.#proc}/${pid}`))
      for (const { id, state, waitedMs } of await threadsOf(process)) {
        // What is written to a disk is most often written by another thread than the first.
        stopped ||= /[DT]/.test(state)
        now.set(id, waitedMs)
      }
    this.#waited = now
    if (stopped) return EVERY_MS
    return Math.max(0, ...[...now].map(([thread, ms]) => ms - (before.get(thread) ?? ms)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }
}

const read = (path: string) => readFile(path, 'latin1').catch(() => '')
const listed = (path: string) => readdir(path).catch(() => [])

/** The folders of it and of all that it has started; without /proc its own alone. */
async function familyOf(first: string): Promise<string[]> {
  const found = [first]
  const proc = dirname(first)
  for (let at = 0; at < found.length && found.length < MOST_PROCESSES; at++) {
    const children = await read(`${found[at]}/task/${basename(found[at]!)}/children`)
    found.push(
      ...children
        .split(' ')
        .filter(Boolean)
        .map(child => `${proc}/${child}`),
    )
  }
  return found.slice(0, MOST_PROCESSES)
}

interface Thread {
  readonly id: string
  /** As `ps` shows it. */
  readonly state: string
  /** How long it has waited for a processor since its start. */
  readonly waitedMs: number
}

async function threadsOf(process: string): Promise<Thread[]> {
  const ids = (await listed(`${process}/task`)).slice(0, MOST_PROCESSES)
  return Promise.all(
    ids.map(async (id): Promise<Thread> => {
      const [stat, schedstat] = await Promise.all(
        ['stat', 'schedstat'].map(name => read(`${process}/task/${id}/${name}`)),
      )
      const [, waited = '0'] = schedstat!.split(' ')
      // The name, in brackets, may have spaces.
      return { id, state: stat!.charAt(stat!.lastIndexOf(')') + 2), waitedMs: Number(waited) / NANOS }
    }),
  )
}
