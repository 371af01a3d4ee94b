/** The simulated buyers that `dev --persona` asks for, and those that come and go while it runs. Source. */
import type { LogEntry } from '../../market/log.ts'
import { UsageError } from '../../settings/config.ts'
import type { Persona } from '../../sim/buyers/persona.ts'
import { personas } from '../../sim/buyers/personas.ts'
import type { SimulatedBuyers } from '../../sim/buyers/simulated-buyers.ts'

/** Of these, each has at most one open task with each agent. */
const alone = personas.filter(({ atOnce }) => atOnce === 1)

export function personasCalled(names: readonly string[] = []): readonly Persona[] {
  return [...new Set(names)].map(name => {
    const persona = alone.find(one => one.name === name)
    if (persona) return persona
    const known = alone.map(one => `  ${one.name.padEnd(14)} ${one.does}`).join('\n')
    const isCrowd = personas.some(one => one.name === name)
    const why = isCrowd ? `, which comes with many tasks at once and is for simulate buyers` : ''
    throw new UsageError(`--persona takes one of these, not ${name}${why}:\n${known}`)
  })
}

/** Who is there is changed by one after the other. Nothing of simulated buyers is loaded before the first. */
export class Buyers {
  readonly #open: (first: readonly Persona[]) => Promise<SimulatedBuyers>
  #buyers: SimulatedBuyers | null = null
  #hasBegun = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(open: (first: readonly Persona[]) => Promise<SimulatedBuyers>) {
    this.#open = open
  }

  all = () => alone.map(one => ({ name: one.name, does: one.does, isHere: this.#buyers?.has(one) === true }))

  set = async (name: string, isHere: boolean): Promise<void> => {
    const persona = alone.find(one => one.name === name)
    if (persona) await this.#next(() => (isHere ? this.add([persona]) : this.#buyers?.remove(persona)))
  }

  async add(personas: readonly Persona[]): Promise<void> {
    const buyers = this.#buyers
    if (buyers) return buyers.add(personas.filter(one => !buyers.has(one)))
    this.#buyers = await this.#open(personas)
    if (this.#hasBegun) this.#buyers.begin()
  }

  /** Names of the accounts of those that are there, by id. */
  get names(): ReadonlyMap<string, string> {
    return this.#buyers?.names ?? new Map()
  }

  begin(): void {
    this.#hasBegun = true
    this.#buyers?.begin()
  }

  hear = (entry: LogEntry) => this.#buyers?.hear(entry)

  async close(): Promise<void> {
    await this.#last.catch(() => {})
    await this.#buyers?.close()
  }

  #next(change: () => unknown): Promise<unknown> {
    const done = this.#last.catch(() => {}).then(change)
    this.#last = done
    return done
  }
}
