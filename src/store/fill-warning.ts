/** Warns before the database is full. Source: A-50. */
import type { Fill } from './db.ts'

const FIRST_WARNING = 70
/** It warns at each further step. It repeats the warning of a step only after the level has fallen by that much below it. */
const STEP = 10

/** Warns once per level, not at each check. */
export class FillWarning {
  readonly #warn: (message: string) => void
  readonly #wayOut: string
  #said = 0

  constructor(warn: (message: string) => void, wayOut: string) {
    this.#warn = warn
    this.#wayOut = wayOut
  }

  look({ bytes, limit }: Fill) {
    const percent = Math.min(100, Math.floor((100 * bytes) / limit))
    if (percent < this.#said - STEP) this.#said = 0
    const step = percent - (percent % STEP)
    if (step < FIRST_WARNING || step <= this.#said) return
    this.#said = step
    const said = step < 100 ? filling(megabytes(bytes), megabytes(limit), percent) : full(megabytes(limit))
    this.#warn(`${said} ${this.#wayOut} npx agent-marketplace admin usage shows who fills it.`)
  }
}

const megabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(bytes < 10 * 1024 ** 2 ? 1 : 0)} MB`

const filling = (bytes: string, limit: string, percent: number) =>
  `The database has ${bytes} of the ${limit} that it may have (${percent} %). When it is full, only what is open can be finished.`

const full = (limit: string) =>
  `The database is full: it has the ${limit} that it may have. What is open can be finished, nothing new is accepted.`
