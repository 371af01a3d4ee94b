/** How full the embedded database is: what it says of that, and warnings before it is full. Source: A-50. */
import { limits } from '../../api/limits.ts'
import type { Fill } from '../db.ts'
import { FillWarning } from '../fill-warning.ts'

const WAY_OUT =
  'Move to Postgres with npx agent-marketplace db copy, or raise MARKETPLACE_DB_LIMIT if there is memory for more.'

/** SQLite has 2 GiB of memory here. The rest above this limit is for finishing open work. */
export const FULL_BYTES = limits.database.fullMebibytes * 1024 ** 2

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
    this.#warning = new FillWarning(warn, WAY_OUT)
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
