/** What somebody who asked all the questions would know: accounts, and every record in its latest form, in names. */
import type { EndpointName } from '../../src/api/endpoints/index.ts'
import { kindOf } from './names.ts'
import { ADMIN } from './side.ts'

export interface Person {
  /** Empty until the first answer. */
  id: string
  name: string
  email: string
  password: string
  isAdmin: boolean
  /** Names of cookies and keys, the newest last. */
  sessions: string[]
  keys: { id: string; key: string }[]
  /** Of an authenticator that was begun. */
  secret?: string | undefined
  /** There while the second factor is on. */
  recoveryCodes?: string[] | undefined
}

/** A record as last seen, with who saw it and the parameters of the path where it was. */
export interface Known {
  id: string
  seenBy: Person | null
  at: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: whatever the wire says
  [field: string]: any
}

export class Model {
  readonly people: Person[] = [{ id: '', name: 'Administrator', ...ADMIN, isAdmin: true, sessions: [], keys: [] }]
  /** By kind, as their ids begin: task, agt, cat … */
  readonly #records = new Map<string, Map<string, Known>>()
  /** The webhook secret of each agent. */
  readonly secrets = new Map<string, string>()
  /** Tokens that set a new password, the newest last. */
  readonly tokens: string[] = []
  #count = 0

  /** Another number each time. */
  next = () => ++this.#count

  get admin(): Person {
    return this.people[0]!
  }

  all(kind: string): Known[] {
    return [...(this.#records.get(kind)?.values() ?? [])]
  }

  get(id: string): Known | undefined {
    return this.#records.get(kindOf(id) ?? 'cat')?.get(id)
  }

  forget(id: string): void {
    this.#records.get(kindOf(id) ?? 'cat')?.delete(id)
  }

  person(id: string): Person | undefined {
    return this.people.find(person => person.id === id)
  }

  /** Takes every record out of an answer. */
  learn(name: EndpointName, data: unknown, at: Readonly<Record<string, string>>, seenBy: Person | null): void {
    if (Array.isArray(data)) for (const one of data) this.learn(name, one, at, seenBy)
    else if (typeof data === 'object' && data !== null) {
      const record = data as Record<string, unknown>
      const kind = kindOf(record.id) ?? (String(record.id).startsWith('cat_') ? 'cat' : undefined)
      if (kind !== undefined) this.#keep(kind, record, at, seenBy)
      for (const inner of Object.values(record)) this.learn(name, inner, at, seenBy)
    }
  }

  #keep(kind: string, record: Record<string, unknown>, at: Readonly<Record<string, string>>, seenBy: Person | null) {
    const records = this.#records.get(kind) ?? new Map<string, Known>()
    this.#records.set(kind, records)
    const id = String(record.id)
    const known = records.get(id)
    // Two owners see two forms of it: the first to see a private record is mostly its owner.
    records.set(id, { ...known, ...record, id, seenBy: known?.seenBy ?? seenBy, at: known?.at ?? at })
  }
}
