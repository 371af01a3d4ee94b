/**
 * The public list of agents, kept in memory as the JSON it goes out as. What a committed write has changed is read
 * again before the next answer, and what only time changes (freshness, 20 and 24 hours after a pass) at that moment:
 * nothing here ever lives for a while. Source: section 4, D16, D30.
 */
import { listedStates } from '../api/flow.ts'
import { durations } from '../api/limits.ts'
import {
  agentsWithTerm,
  compareListed as compare,
  type ListedAgentRow,
  listedAgentById,
  listedAgents,
  type PublicSearch,
} from '../store/agents.ts'
import { allAgentCategories } from '../store/categories.ts'
import type { Changes, Reader } from '../store/db.ts'
import { agentRecord, standingOf } from './agent-records.ts'
import { isPublic } from './visibility.ts'

interface Entry {
  row: ListedAgentRow
  isPublic: boolean
  /** The record as JSON; null until somebody asks. */
  text: string | null
  /** When time alone changes the record, in domain ms. */
  changesAt: number
}

type Sort = PublicSearch['sort']
const sorts = Object.keys(compare) as Sort[]

/** One search, whatever its page. */
interface Selection {
  entries: readonly Entry[]
  /** Texts of pages by `page/limit`. */
  pages: Map<string, string>
}

const TABLES = ['agents', 'users', 'agent_categories', 'agent_terms'] as const
/** Above this many changed rows, reading all of them at once costs less. */
const FEW = 50
const KEPT_SELECTIONS = 200
const KEPT_PAGES = 200

const catalogues = new WeakMap<Changes, Catalogue>()

/** The page's items as a JSON list, and how many there are in all; null where the engine can't tell what changed. */
export async function publicPage(q: Reader, now: number, search: PublicSearch) {
  const { changes } = q
  if (!changes) return null
  const catalogue = catalogues.get(changes) ?? new Catalogue()
  catalogues.set(changes, catalogue)
  await catalogue.refresh(q, changes, now)
  return catalogue.page(q, now, search)
}

class Catalogue {
  readonly #entries = new Map<string, Entry>()
  #categories = new Map<string, string[]>()
  readonly #selections = new Map<string, Selection>()
  /** Of the tables, as they were last read; empty before that. */
  #versions = new Map<string, number>()
  #changesAt = Number.POSITIVE_INFINITY

  /** Brings everything up to the state that `q` reads. */
  async refresh(q: Reader, changes: Changes, now: number): Promise<void> {
    const stale = TABLES.filter(table => changes.version(table) !== this.#versions.get(table))
    if (stale.length > 0) await this.#reread(q, changes, now, new Set(stale))
    if (now >= this.#changesAt) this.#passTime(now)
  }

  async page(q: Reader, now: number, search: PublicSearch): Promise<{ text: string; total: number }> {
    const { page, limit } = search
    const selection = await this.#select(q, search)
    const total = selection.entries.length
    const key = `${page}/${limit}`
    let text = selection.pages.get(key)
    if (text === undefined) {
      const shown = selection.entries.slice((page - 1) * limit, page * limit)
      text = `[${shown.map(entry => this.#textOf(entry, now)).join(',')}]`
      if (selection.pages.size >= KEPT_PAGES) selection.pages.clear()
      selection.pages.set(key, text)
    }
    return { text, total }
  }

  async #reread(q: Reader, changes: Changes, now: number, stale: ReadonlySet<string>): Promise<void> {
    const before = this.#versions
    this.#versions = new Map() // what is left half done is done again from the start
    if (stale.has('agent_categories')) await this.#readCategories(q)
    if (stale.has('agent_terms')) this.#selections.clear()
    const changed = changedAgents(changes, before, this.#entries)
    if (changed && changed.size <= FEW) for (const id of changed) this.#put(id, await listedAgentById(q, id), now)
    else await this.#readAll(q, now)
    for (const table of TABLES) this.#versions.set(table, changes.version(table))
  }

  async #readCategories(q: Reader): Promise<void> {
    this.#categories = new Map()
    for (const { agentId, categoryId } of await allAgentCategories(q)) {
      const known = this.#categories.get(agentId)
      if (known) known.push(categoryId)
      else this.#categories.set(agentId, [categoryId])
    }
    this.#selections.clear()
    for (const entry of this.#entries.values()) entry.text = null
  }

  async #readAll(q: Reader, now: number): Promise<void> {
    this.#entries.clear()
    this.#selections.clear()
    this.#changesAt = Number.POSITIVE_INFINITY
    for (const row of await listedAgents(q)) this.#put(row.id, row, now)
  }

  #put(id: string, row: ListedAgentRow | undefined, now: number): void {
    const known = this.#entries.get(id)
    if (!row || row.deletedAt !== null || !(listedStates as readonly string[]).includes(row.status)) {
      this.#entries.delete(id)
      if (known?.isPublic) this.#selections.clear()
      return
    }
    const entry = { row, text: null, isPublic: isPublic(row, standingOf(row), now), changesAt: nextChange(row, now) }
    this.#changesAt = Math.min(this.#changesAt, entry.changesAt)
    const stays = known && known.isPublic === entry.isPublic && sorts.every(sort => compare[sort](known.row, row) === 0)
    if (stays) for (const { pages } of this.#selections.values()) pages.clear()
    else this.#selections.clear()
    if (known) Object.assign(known, entry)
    else this.#entries.set(id, entry)
  }

  #passTime(now: number): void {
    this.#selections.clear()
    this.#changesAt = Number.POSITIVE_INFINITY
    for (const entry of this.#entries.values()) {
      if (entry.changesAt <= now) {
        entry.isPublic = isPublic(entry.row, standingOf(entry.row), now)
        entry.text = null
        entry.changesAt = nextChange(entry.row, now)
      }
      this.#changesAt = Math.min(this.#changesAt, entry.changesAt)
    }
  }

  async #select(q: Reader, { sort, categoryId, prefixes }: PublicSearch): Promise<Selection> {
    const key = JSON.stringify([sort, categoryId, prefixes])
    const known = this.#selections.get(key)
    if (known) return known
    const found: ReadonlySet<string>[] = []
    for (const prefix of prefixes) found.push(new Set(await agentsWithTerm(q, prefix)))
    const entries = this.#sorted(sort).filter(
      ({ row: { id } }) =>
        (categoryId === null || this.#categories.get(id)?.includes(categoryId)) && found.every(ids => ids.has(id)),
    )
    if (this.#selections.size >= KEPT_SELECTIONS) this.#selections.clear()
    const selection = { entries, pages: new Map<string, string>() }
    this.#selections.set(key, selection)
    return selection
  }

  #sorted(sort: Sort): Entry[] {
    return [...this.#entries.values()].filter(entry => entry.isPublic).sort((a, b) => compare[sort](a.row, b.row))
  }

  #textOf(entry: Entry, now: number): string {
    entry.text ??= JSON.stringify(agentRecord(entry.row, this.#categories.get(entry.row.id) ?? [], now))
    return entry.text
  }
}

/** Agents whose rows, or whose builders' rows, may be others than before; null for any. */
function changedAgents(changes: Changes, before: ReadonlyMap<string, number>, entries: ReadonlyMap<string, Entry>) {
  const [agents, users] = (['agents', 'users'] as const).map(table => {
    const version = before.get(table)
    return version === undefined ? null : changes.since(table, version)
  })
  if (!agents || !users) return null
  const ids = new Set(agents)
  if (users.size > 0) for (const [id, { row }] of entries) if (users.has(row.builderId)) ids.add(id)
  return ids
}

/** The next moment after `now` at which a record becomes amber, or leaves the list. */
function nextChange({ lastPassAt }: ListedAgentRow, now: number): number {
  if (lastPassAt === null) return Number.POSITIVE_INFINITY
  const moments = [lastPassAt + durations.amberMs, lastPassAt + durations.freshMs + 1]
  return moments.find(at => at > now) ?? Number.POSITIVE_INFINITY
}
