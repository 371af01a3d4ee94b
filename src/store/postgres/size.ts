/** How full a database on Postgres is, where its operator has set a limit. Source: A-50. */
import { room } from '../../api/limits.ts'
import type { Fill } from '../db.ts'
import { FillWarning } from '../fill-warning.ts'

const WAY_OUT = 'Raise MARKETPLACE_DB_LIMIT if its disk has room for more; VACUUM FULL gives back what was purged.'

/** Knows the size as of some seconds ago. It asks again when it is asked. */
export class Size {
  readonly #measure: () => Promise<number>
  readonly #limit: number
  readonly #warning: FillWarning
  #bytes = 0
  #isOld = true

  constructor(measure: () => Promise<number>, limit: number, warn: (message: string) => void) {
    this.#measure = measure
    this.#limit = limit
    this.#warning = new FillWarning(warn, WAY_OUT)
  }

  get fill(): Fill {
    if (this.#isOld) void this.look()
    return { bytes: this.#bytes, limit: this.#limit }
  }

  /** Never rejects. While the server can't be asked, the last size counts. */
  async look(): Promise<void> {
    this.#isOld = false
    setTimeout(() => {
      this.#isOld = true
    }, room.lookMs).unref()
    try {
      this.#bytes = await this.#measure()
    } catch {
      return
    }
    this.#warning.look(this.fill)
  }
}
