/** How full the embedded database is: what it says of that, and warnings before it is full. Source: A-50. */
import { limits } from '../../api/limits.ts'
import type { Fill } from '../db.ts'

/** SQLite has 2 GiB of memory here. The rest above this limit is for finishing open work. */
export const FULL_BYTES = limits.database.fullMebibytes * 1024 ** 2

const FIRST_WARNING = 70
/** It warns at each further step. It repeats the warning of a step only after the level has fallen by that much below it. */
const STEP = 10

/** After how many write transactions the fill level is checked. */
const LOOK_EVERY = 16
/** With less room than this, which so many transactions can't fill, each question checks it. A check takes 2.4 µs of a submit. */
const LITTLE_ROOM = LOOK_EVERY * 4 * 1024 ** 2

/** Checks the level from time to time. `check` reads it from the database. */
export class FillLevel {
  readonly #check: () => Fill
  readonly #warning: FillWarning
  /** How many transactions have written since the start. */
  writes = 0
  /** The database is not full before so many writes. */
  #roomUntil = 0

  constructor(check: () => Fill, warn: (message: string) => void) {
    this.#check = check
    this.#warning = new FillWarning(warn)
    this.#warning.look(check())
  }

  countWrite(): void {
    this.writes++
    if (this.writes % LOOK_EVERY === 0) this.#warning.look(this.#check())
  }

  get isFull(): boolean {
    if (this.writes < this.#roomUntil) return false
    const { bytes, limit } = this.#check()
    if (limit - bytes > LITTLE_ROOM) this.#roomUntil = this.writes + LOOK_EVERY
    return bytes >= limit
  }
}

/** Warns once per level, not at each check. */
export class FillWarning {
  readonly #warn: (message: string) => void
  #said = 0

  constructor(warn: (message: string) => void) {
    this.#warn = warn
  }

  look({ bytes, limit }: Fill) {
    const percent = Math.min(100, Math.floor((100 * bytes) / limit))
    if (percent < this.#said - STEP) this.#said = 0
    const step = percent - (percent % STEP)
    if (step < FIRST_WARNING || step <= this.#said) return
    this.#said = step
    this.#warn(step < 100 ? filling(megabytes(bytes), megabytes(limit), percent) : full(megabytes(limit)))
  }
}

const megabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(bytes < 10 * 1024 ** 2 ? 1 : 0)} MB`

const WAY_OUT = 'Move to Postgres with marketplace db copy, or raise MARKETPLACE_DB_LIMIT if there is memory for more.'

const filling = (bytes: string, limit: string, percent: number) =>
  `The database has ${bytes} of the ${limit} that it may have (${percent} %). When it is full, only what is open can be finished. ${WAY_OUT}`

const full = (limit: string) =>
  `The database is full: it has the ${limit} that it may have. What is open can be finished, nothing new is accepted. ${WAY_OUT}`
