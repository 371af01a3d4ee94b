/**
 * The public list of agents in memory: for each agent what decides its order and visibility, and a bounded number of
 * records and pages as JSON. No entry expires by age, because none is ever stale: what a committed write changes is read
 * again before the next response, and what time alone changes (freshness, 20 and 24 hours after a pass) changes at that
 * moment. Source: I-search, A-16, A-30, A-49.
 *
 * 1,000 agents, one of them changed each 100 ms: the list has 0.54 of the rate of a bare server; 0.43 with all rows read again
 * after each write; 0.004 without the cache.
 */
import type { ReadyPage } from '../../api/endpoint.ts'
import { durations } from '../../api/limits.ts'
import { rowsOf } from '../../api/page.ts'
import { Json } from '../../api/reply.ts'
import { boundedCache, bytesOfText } from '../../shared/bounded-cache.ts'
import { jsonLengthOf } from '../../shared/text-parts.ts'
import type { Changes, Reader } from '../../store/db.ts'
import {
  compareListed as compare,
  type ListedAgentRow,
  listedAgentById,
  listedStandings,
  type PublicSearch,
  type StandingOfListed,
  standingOfListed,
} from '../../store/tables/agents/agents.ts'
import { allAgentCategories } from '../../store/tables/agents/categories.ts'
import { agentsWithTerm } from '../../store/tables/agents/search-words.ts'
import type { ReadCtx } from '../market.ts'
import { MIB } from '../mebibytes.ts'
import { builderStanding, publicRecord } from './agent-record.ts'
import { isListed } from './search-words.ts'
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
const LONGEST_PAGE = 128 * 1024
/** With more changed rows than this, reading all rows at once costs less. */
const FEW = 50

/**
 * Bounds in bytes: of records and pages as JSON, and of the agents that each search finds.
 * @internal Tests fill the cache.
 */
export const cacheBytes = { records: 8 * MIB, pages: 16 * MIB, selections: 8 * MIB } as const

/** Returns the page's items as a JSON list, and the total. Returns null where the engine can't say what has changed. */
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
  readonly #records = boundedCache<Json>({ maxBytes: cacheBytes.records, bytesOf: ({ length }) => 2 * length })
  /** Pages as JSON. All are dropped whenever a record or a selection is. */
  readonly #pages = boundedCache<string>({ maxBytes: cacheBytes.pages, bytesOf: bytesOfText })
  /** All agents that a search finds, on any page. */
  readonly #selections = boundedCache<readonly Entry[]>({
    maxBytes: cacheBytes.selections,
    bytesOf: found => 8 * found.length,
  })
  /** The versions of the tables when they were last read; empty before that. */
  #versions = new Map<string, number>()
  #changesAt = Number.POSITIVE_INFINITY

  /** Brings everything up to the state that `q` reads. */
  async refresh(q: Reader, changes: Changes, now: number): Promise<void> {
    const stale = TABLES.filter(table => changes.version(table) !== this.#versions.get(table))
    if (stale.length > 0) await this.#reread(q, changes, now, new Set(stale))
    if (now >= this.#changesAt) this.#passTime(now)
  }

  bytes() {
    return { records: this.#records.size, pages: this.#pages.size, selections: this.#selections.size }
  }

  async page(q: Reader, now: number, search: PublicSearch): Promise<ReadyPage> {
    const { sort, categoryId, prefixes, page, limit } = search
    const key = JSON.stringify([sort, categoryId, prefixes])
    const selection = await this.#select(q, key, search)
    const total = selection.length
    const [count, from] = rowsOf(search)
    const shown = selection.slice(from, from + count)
    if (shown.length === 0) return { items: [], total }
    const pageKey = `${page}/${limit} ${key}`
    const known = this.#pages.get(pageKey)
    if (known !== undefined) return { items: new Json(known), total }
    const records: Json[] = []
    for (const entry of shown) records.push(await this.#recordOf(q, entry, now))
    const text = shortPage(records)
    if (text === null) return { items: records, total }
    this.#pages.set(pageKey, text)
    return { items: new Json(text), total }
  }

  async #reread(q: Reader, changes: Changes, now: number, stale: ReadonlySet<string>): Promise<void> {
    const before = this.#versions
    this.#versions = new Map() // if this fails half way, the next call starts over
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
    const entry = { row, isPublic: isPublic(row, builderStanding(row), now), changesAt: nextChange(row, now) }
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
        entry.isPublic = isPublic(entry.row, builderStanding(entry.row), now)
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
    // The longest prefix finds the fewest agents, so it comes first. After one that finds nothing, none is looked up.
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

  /** Its text is made when it is sent, in the slices of the response: a hundred long ones would hold the thread. */
  async #recordOf(q: Reader, { row: { id } }: Entry, now: number): Promise<Json> {
    const known = this.#records.get(id)
    if (known !== undefined) return known
    const row = (await listedAgentById(q, id))!
    const data = publicRecord(row, this.#categories.get(id) ?? [], now)
    const length = JSON.stringify({ ...data, description: '' }).length + jsonLengthOf(data.description)
    const record = new Json(undefined, { data, length })
    this.#records.set(id, record)
    return record
  }
}

/** Returns null if it would be long: then its text is put together in the slices of each response. */
function shortPage(records: readonly Json[]): string | null {
  let text = '['
  for (const record of records) {
    if (text.length > LONGEST_PAGE) return null
    text += `${text === '[' ? '' : ','}${record.text}`
  }
  return `${text}]`
}

/** Returns the agents whose rows, or whose builders' rows, may have changed; null if any may have. */
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

/** Returns the next moment after `now` at which a record becomes amber or leaves the list. */
function nextChange({ lastPassAt }: Pick<ListedAgentRow, 'lastPassAt'>, now: number): number {
  if (lastPassAt === null) return Number.POSITIVE_INFINITY
  const moments = [lastPassAt + durations.amberMs, lastPassAt + durations.freshMs + 1]
  return moments.find(at => at > now) ?? Number.POSITIVE_INFINITY
}
