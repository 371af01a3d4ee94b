/**
 * Measures what nobody but the machine is to blame for: how long the run itself stood still, and how long the agent's processes were ready to
 * go on and got no processor, or waited for a disk. Judgements in time are made against it. Source: A-286.
 */
import { readdir, readFile } from 'node:fs/promises'
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
  #timer: NodeJS.Timeout
  #looking: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #waited = new Map<string, number>()

  /** `pid`: the first process of the agent; undefined while it does not run, or is not ours. */
  constructor(recorder: EventSink, pid: () => number | undefined) {
    this.#recorder = recorder
    this.#pid = pid
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
    for (const one of await familyOf(pid)) {
      stopped ||= /[DT]/.test(await stateOf(one))
      for (const [thread, ms] of await waitsOf(one)) now.set(thread, ms)
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

/** It and all that it has started; without /proc it alone. */
async function familyOf(pid: number): Promise<number[]> {
  const found = [pid]
  for (let at = 0; at < found.length && found.length < MOST_PROCESSES; at++) {
    const children = await read(`/proc/${found[at]}/task/${found[at]}/children`)
    found.push(...children.split(' ').filter(Boolean).map(Number))
  }
  return found.slice(0, MOST_PROCESSES)
}

/** As `ps` shows it. */
async function stateOf(pid: number): Promise<string> {
  const stat = await read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).slice(0, 1)
}

/** By its threads, how long each has waited for a processor since its start, in ms. */
async function waitsOf(pid: number): Promise<[string, number][]> {
  const threads = (await listed(`/proc/${pid}/task`)).slice(0, MOST_PROCESSES)
  return Promise.all(
    threads.map(async (id): Promise<[string, number]> => {
      const [, waited = '0'] = (await read(`/proc/${pid}/task/${id}/schedstat`)).split(' ')
      return [id, Number(waited) / NANOS]
    }),
  )
}
