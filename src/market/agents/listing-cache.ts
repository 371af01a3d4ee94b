/**
 * The public list of agents: of each what orders and hides it, and a bounded part of it as the JSON it goes out as. What a
 * committed write has changed is read again before the next answer, and what only time changes (freshness, 20 and 24 hours
 * after a pass) at that moment: nothing here ever lives for a while. Source: I-search, A-16, A-30, A-49.
 */

import { durations } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import type { Changes, Reader } from '../../store/db.ts'
import {
  compareListed as compare,
  type ListedAgentRow,
  listedAgentById,
  listedStandings,
  type PublicSearch,
  type StandingOfListed,
  standingOfListed,
} from '../../store/tables/agents.ts'
import { allAgentCategories } from '../../store/tables/categories.ts'
import { agentsWithTerm } from '../../store/tables/search-words.ts'
import { boundedCache, bytesOfText } from '../bounded-cache.ts'
import type { ReadCtx } from '../market.ts'
import { MIB } from '../mib.ts'
import { agentRecord, standingOf } from './agent-record.ts'
import { isListed } from './search-index.ts'
import { isPublic } from './visibility.ts'

interface Entry {
  row: StandingOfListed
  isPublic: boolean
  /** When time alone changes the record, in domain ms. */
  changesAt: number
}

type Sort = PublicSearch['sort']
const sorts = Object.keys(compare) as Sort[]

const TABLES = ['agents', 'users', 'agent_categories', 'agent_terms'] as const
/** Above this many changed rows, reading all of them at once costs less. */
const FEW = 50

/** What is kept at most: records and pages as JSON, and who is on the pages of a search. */
export const cacheBytes = { records: 8 * MIB, pages: 16 * MIB, selections: 8 * MIB } as const

/** The page's items as a JSON list, and how many there are in all; null where the engine can't tell what changed. */
export async function publicPage({ tx, memory }: Pick<ReadCtx, 'tx' | 'memory'>, now: number, search: PublicSearch) {
  if (!tx.changes) return null
  const cache = memory.of(ListingCache)
  await cache.refresh(tx, tx.changes, now)
  return cache.page(tx, now, search)
}

export class ListingCache {
  readonly #entries = new Map<string, Entry>()
  #categories = new Map<string, string[]>()
  /** Records as JSON, by the agent's id. */
  readonly #records = boundedCache<string>(cacheBytes.records, bytesOfText)
  /** Pages as JSON. They go whenever a record or a selection does. */
  readonly #pages = boundedCache<string>(cacheBytes.pages, bytesOfText)
  /** Who is found by a search, whatever its page. */
  readonly #selections = boundedCache<readonly Entry[]>(cacheBytes.selections, found => 8 * found.length)
  /** Of the tables, as they were last read; empty before that. */
  #versions = new Map<string, number>()
  #changesAt = Number.POSITIVE_INFINITY

  /** Brings everything up to the state that `q` reads. */
  async refresh(q: Reader, changes: Changes, now: number): Promise<void> {
    const stale = TABLES.filter(table => changes.version(table) !== this.#versions.get(table))
    if (stale.length > 0) await this.#reread(q, changes, now, new Set(stale))
    if (now >= this.#changesAt) this.#passTime(now)
  }

  bytes() {
    return { records: this.#records.bytes, pages: this.#pages.bytes, selections: this.#selections.bytes }
  }

  async page(q: Reader, now: number, search: PublicSearch): Promise<{ text: string; total: number }> {
    const { sort, categoryId, prefixes, page, limit } = search
    const key = JSON.stringify([sort, categoryId, prefixes])
    const selection = await this.#select(q, key, search)
    const total = selection.length
    const [count, from] = rowsOf(search)
    const shown = selection.slice(from, from + count)
    if (shown.length === 0) return { text: '[]', total }
    const pageKey = `${page}/${limit} ${key}`
    const known = this.#pages.get(pageKey)
    if (known !== undefined) return { text: known, total }
    const records: string[] = []
    for (const entry of shown) records.push(await this.#recordOf(q, entry, now))
    const text = `[${records.join(',')}]`
    this.#pages.set(pageKey, text)
    return { text, total }
  }

  async #reread(q: Reader, changes: Changes, now: number, stale: ReadonlySet<string>): Promise<void> {
    const before = this.#versions
    this.#versions = new Map() // what is left half done is done again from the start
    if (stale.has('agent_categories')) await this.#readCategories(q)
    if (stale.has('agent_terms')) this.#forgetSelections()
    const changed = changedAgents(changes, before, this.#entries)
    if (changed && changed.size <= FEW) for (const id of changed) this.#put(id, await standingOfListed(q, id), now)
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
    this.#forgetSelections()
    this.#records.clear()
  }

  #forgetSelections(): void {
    this.#selections.clear()
    this.#pages.clear()
  }

  async #readAll(q: Reader, now: number): Promise<void> {
    this.#entries.clear()
    this.#records.clear()
    this.#forgetSelections()
    this.#changesAt = Number.POSITIVE_INFINITY
    for (const row of await listedStandings(q)) this.#put(row.id, row, now)
  }

  #put(id: string, row: StandingOfListed | undefined, now: number): void {
    const known = this.#entries.get(id)
    this.#records.delete(id)
    if (!row || !isListed(row)) {
      this.#entries.delete(id)
      if (known?.isPublic) this.#forgetSelections()
      return
    }
    const entry = { row, isPublic: isPublic(row, standingOf(row), now), changesAt: nextChange(row, now) }
    this.#changesAt = Math.min(this.#changesAt, entry.changesAt)
    const stays = known && known.isPublic === entry.isPublic && sorts.every(sort => compare[sort](known.row, row) === 0)
    if (stays) this.#pages.clear()
    else this.#forgetSelections()
    if (known) Object.assign(known, entry)
    else this.#entries.set(id, entry)
  }

  #passTime(now: number): void {
    this.#forgetSelections()
    this.#changesAt = Number.POSITIVE_INFINITY
    for (const [id, entry] of this.#entries) {
      if (entry.changesAt <= now) {
        entry.isPublic = isPublic(entry.row, standingOf(entry.row), now)
        this.#records.delete(id)
        entry.changesAt = nextChange(entry.row, now)
      }
      this.#changesAt = Math.min(this.#changesAt, entry.changesAt)
    }
  }

  async #select(q: Reader, key: string, { sort, categoryId, prefixes }: PublicSearch): Promise<readonly Entry[]> {
    const known = this.#selections.get(key)
    if (known) return known
    const found: ReadonlySet<string>[] = []
    // The longest first: it finds the fewest, and behind a word that finds nothing none is looked up.
    for (const prefix of [...prefixes].sort((a, b) => b.length - a.length)) {
      found.push(new Set(await agentsWithTerm(q, prefix)))
      if (found.at(-1)!.size === 0) break
    }
    const entries = this.#sorted(sort).filter(
      ({ row: { id } }) =>
        (categoryId === null || this.#categories.get(id)?.includes(categoryId)) && found.every(ids => ids.has(id)),
    )
    this.#selections.set(key, entries)
    return entries
  }

  #sorted(sort: Sort): Entry[] {
    return [...this.#entries.values()].filter(entry => entry.isPublic).sort((a, b) => compare[sort](a.row, b.row))
  }

  async #recordOf(q: Reader, { row: { id } }: Entry, now: number): Promise<string> {
    const known = this.#records.get(id)
    if (known !== undefined) return known
    const row = (await listedAgentById(q, id))!
    const text = JSON.stringify(agentRecord(row, this.#categories.get(id) ?? [], now))
    this.#records.set(id, text)
    return text
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
function nextChange({ lastPassAt }: Pick<ListedAgentRow, 'lastPassAt'>, now: number): number {
  if (lastPassAt === null) return Number.POSITIVE_INFINITY
  const moments = [lastPassAt + durations.amberMs, lastPassAt + durations.freshMs + 1]
  return moments.find(at => at > now) ?? Number.POSITIVE_INFINITY
}
