/**
 * A file of records, a line of JSON each, that one process at a time has. What was appended outlives an end of the process and of the machine at
 * any moment. It needs only Node. Source: A-273.
 */
import fs from 'node:fs'
import { resolve as absolute, dirname } from 'node:path'
import { promisify } from 'node:util'
import { isRunning, ownSpace, startOf } from '../shared/process-identity.ts'

/** What the records come to. */
export interface Folded<Item> {
  apply(item: Item): void
  /** The shortest list of records that come to the same. */
  items(): Iterable<Item>
}

interface Waiting<Item> {
  readonly item: Item
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Besides records: whoever wants the file writes `open`. It belongs to the first that runs and has not written `close`. */
interface Claims {
  readonly open?: Owner
  readonly close?: Owner
}

const HEADER = '{"journal":1}\n'
/** It is written anew when it is longer than this, and twice as long as it was then. */
const SHORT_BYTES = 4 * 1024 * 1024
/** In which a process that was killed is gone. */
const DYING_MS = 2_000
const LOOK_MS = 20
const ADVICE = 'Give `journal` a file of its own, in a folder that this process may write to.'

const line = (value: object) => `${JSON.stringify(value)}\n`

export class JournalFile<Item extends object> {
  readonly #path: string
  readonly #folded: Folded<Item>
  readonly #owner = newOwner()
  /** Below 0: it is not open. */
  #fd = -1
  #longest = SHORT_BYTES
  #isTorn = false
  #isWriting = false
  #isClosing = false
  #waiting: Waiting<Item>[] = []

  /** Applies what it holds. Throws an Error with a sentence if another process has it, it is no journal, or the disk refuses it. */
  constructor(path: string, folded: Folded<Item>) {
    this.#path = absolute(path)
    this.#folded = folded
    try {
      for (const item of this.#taken()) folded.apply(item)
      this.#writeAnew()
    } catch (error) {
      this.#shut()
      const { code, message } = error as NodeJS.ErrnoException
      throw code
        ? new Error(`The journal ${this.#path} can't be opened: ${message}. ${ADVICE}`, { cause: error })
        : error
    }
  }

  /** Resolves when it is on the disk and applied. Rejects with an Error with a sentence if the disk refuses it. */
  append(item: Item): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isWriting) void this.#write()
    })
  }

  /** Another may have it when the last record is on the disk. */
  close(): void {
    this.#isClosing = true
    if (this.#isWriting) return
    try {
      if (this.#isThere()) fs.writeSync(this.#fd, `\n${line({ close: this.#owner })}`)
    } catch {
      // Another may have it when this process has ended.
    }
    this.#shut()
  }

  #shut(): void {
    const fd = this.#fd
    this.#fd = -1
    if (fd >= 0) fs.closeSync(fd)
  }

  /** Returns its records. Of several that want it at once, the one whose claim stands first has it. */
  #taken(): Item[] {
    for (let waited = 0; ; waited += LOOK_MS) {
      if (!this.#isThere()) this.#open()
      let lines = this.#lines()
      if (!ownerIn(lines)) {
        fs.writeSync(this.#fd, `\n${line({ open: this.#owner })}`)
        lines = this.#lines()
      }
      const owner = ownerIn(lines)
      if (owner && isSame(owner, this.#owner) && this.#isThere()) return lines
      if (owner && (isOfSameProcess(owner, this.#owner) || waited >= DYING_MS)) throw this.#inUse(owner)
      pause(LOOK_MS)
    }
  }

  #open(): void {
    this.#shut()
    this.#fd = fs.openSync(this.#path, 'a+', 0o600)
    const begin = fs.readFileSync(this.#path, 'utf8').slice(0, HEADER.length)
    if (begin === HEADER) return
    if (!HEADER.startsWith(begin)) throw new Error(`${this.#path} is no journal of an agent. ${ADVICE}`)
    if (begin !== '') fs.ftruncateSync(this.#fd)
    fs.writeSync(this.#fd, HEADER)
  }

  #lines(): (Item & Claims)[] {
    return linesOf(fs.readFileSync(this.#path, 'utf8'))
  }

  #inUse({ pid }: Owner): Error {
    const whose = pid === process.pid ? 'another agent of this process' : `process ${pid}, which runs`
    return new Error(
      `The journal ${this.#path} belongs to ${whose}. End that one first, or give \`journal\` another file.`,
    )
  }

  /** What comes in the meantime is one batch. */
  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#appendAll(batch.map(({ item }) => line(item)).join(''))
        for (const { item, resolve } of batch) {
          this.#folded.apply(item)
          resolve()
        }
      } catch (error) {
        const fault = new Error(`The journal ${this.#path} can't be written: ${(error as Error).message}`, {
          cause: error,
        })
        for (const { reject } of batch) reject(fault)
      }
      this.#shorten()
    }
    this.#isWriting = false
    if (this.#isClosing) this.close()
  }

  async #appendAll(text: string): Promise<void> {
    if (!this.#isThere()) throw new Error('it was closed, removed, or replaced by another process')
    const { size } = fs.fstatSync(this.#fd)
    try {
      await promisify(fs.appendFile)(this.#fd, this.#isTorn ? `\n${text}` : text)
      await promisify(fs.fdatasync)(this.#fd)
      this.#isTorn = false
    } catch (error) {
      this.#cut(size)
      throw error
    }
  }

  /** What is left of a line takes the room of others. */
  #cut(size: number): void {
    this.#isTorn = true
    try {
      fs.ftruncateSync(this.#fd, size)
      this.#isTorn = false
    } catch {
      // The next line begins a new one.
    }
  }

  /** Whether its path leads to the file that is open here. */
  #isThere(): boolean {
    if (this.#fd < 0) return false
    const [here, there] = [fs.fstatSync(this.#fd, { bigint: true }), statOf(this.#path)]
    return there?.ino === here.ino && there.dev === here.dev
  }

  #shorten(): void {
    try {
      if (this.#isThere() && fs.fstatSync(this.#fd).size > this.#longest) this.#writeAnew()
    } catch {
      // It holds the same as before, at greater length.
      this.#longest += SHORT_BYTES
    }
  }

  #writeAnew(): void {
    const next = `${this.#path}.new`
    const lines = [HEADER, line({ open: this.#owner })]
    for (const item of this.#folded.items()) lines.push(line(item))
    const text = lines.join('')
    try {
      fs.writeFileSync(next, text, { mode: 0o600, flush: true })
      // Windows replaces no file that is open.
      this.#shut()
      fs.renameSync(next, this.#path)
      this.#longest = Math.max(SHORT_BYTES, 2 * Buffer.byteLength(text))
    } catch (error) {
      fs.rmSync(next, { force: true })
      throw error
    } finally {
      if (this.#fd < 0) this.#fd = fs.openSync(this.#path, 'a')
    }
    syncFolder(dirname(this.#path))
  }
}

/** Leaves out what an end of the machine has torn: nobody was told that it is kept. */
function linesOf<Line extends object>(text: string): Line[] {
  return text.split('\n').flatMap(json => {
    try {
      const value = JSON.parse(json)
      return typeof value === 'object' && value !== null ? [value as Line] : []
    } catch {
      return []
    }
  })
}

const isOfSameProcess = (one: Owner, other: Owner) => isSame({ ...one, nth: 0 }, { ...other, nth: 0 })

const isSame = (one: Owner, other: Owner) => JSON.stringify(one) === JSON.stringify(other)

function ownerIn(lines: readonly Claims[]): Owner | undefined {
  const closed = lines.flatMap(({ close }) => close ?? [])
  return lines
    .flatMap(({ open }) => open ?? [])
    .find(owner => !closed.some(other => isSame(owner, other)) && runs(owner))
}

const statOf = (path: string) => fs.statSync(path, { bigint: true, throwIfNoEntry: false })

/** The new name of a file is on the disk only then. */
function syncFolder(path: string): void {
  // Windows opens no folder.
  if (process.platform === 'win32') return
  const fd = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

interface Owner {
  readonly pid: number
  /** When the process began, as the system tells it; null where it does not. */
  readonly began: string | null
  /** Where the number counts. */
  readonly space: string
  /** Which of its journals, as one process may open several. */
  readonly nth: number
}

let last = 0

const newOwner = (): Owner => ({
  pid: process.pid,
  began: startOf(process.pid),
  space: ownSpace(),
  nth: ++last,
})

/** Whether the owner still runs. Of a process in another container nothing can be seen: it counts as ended. */
const runs = ({ pid, began, space }: Owner): boolean => space === ownSpace() && isRunning(pid, began)
