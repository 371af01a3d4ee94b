/** The SQL of the marketplace as Postgres takes it. */
import { createHash } from 'node:crypto'
import { boundedCache } from '../../shared/bounded-cache.ts'
import type { Step } from '../db.ts'
import { type Lacks, NOTHING } from './lacks.ts'

export interface PostgresText {
  text: string
  /** The name under which it is prepared; '' for a change of the schema. */
  name: string
}

/**
 * How many texts are kept. The program has some hundreds, and 250 more when retention joins so many writes: each number of
 * writes is a text of its own.
 */
export const KEPT_TEXTS = 1_000

const known = boundedCache<PostgresText>({ maxEntries: KEPT_TEXTS })

/** Translates a text. */
export function postgresText(sql: string, lacks: Lacks = NOTHING): PostgresText {
  let found = known.get(sql)
  if (!found) {
    const text = uncommented(sql)
    if (/^\s*(CREATE|ALTER|DROP)\b/i.test(sql)) return { text: schemaText(text, lacks), name: '' }
    found = { text, name: nameOf(text) }
    known.set(sql, found)
  }
  return found
}

// The name depends only on the text. Behind a pooler, two processes may use the same connection, and a name must mean the
// same.
const nameOf = (text: string) => `m${createHash('sha256').update(text).digest('hex').slice(0, 24)}`

/**
 * Cuts steps before one that writes a table a second time: within a statement, Postgres does not say which write is first, so two
 * units could wait for each other, and CockroachDB refuses it.
 */
export function apart(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = []
  let written = new Set<string | undefined>()
  for (const step of steps) {
    const table = WRITTEN.exec(step.sql)?.[1]
    if (written.has(table) || groups.length === 0) {
      groups.push([])
      written = new Set()
    }
    written.add(table)
    groups.at(-1)!.push(step)
  }
  return groups
}

const WRITTEN = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/

/** division_by_zero: a joined statement fails with it on purpose if one of its writes changed no row. */
export const notAll = '22012'

const joined = boundedCache<string>({ maxEntries: KEPT_TEXTS })
/** Texts by number, since a key that is made of texts is as long as they are, each time. */
const numbers = boundedCache<number>({ maxEntries: KEPT_TEXTS })
let last = 0

function numberOf(text: string): number {
  const found = numbers.get(text) ?? ++last
  if (found === last) numbers.set(text, found)
  return found
}

/**
 * Several writes of different tables as one statement, whose only row says as c0, c1 … how many rows each changed. `sure`: it fails with
 * `notAll` unless each changed one.
 */
export function joinedText(texts: readonly string[], sure: boolean): string {
  const key = `${sure} ${texts.map(numberOf)}`
  let found = joined.get(key)
  if (!found) {
    let parameters = 0
    const parts = texts.map((text, i) => {
      const before = parameters
      const renumbered = text.replace(/\$(\d+)/g, (_, n) => {
        parameters = Math.max(parameters, before + Number(n))
        return `$${before + Number(n)}`
      })
      return `w${i} AS (${renumbered} RETURNING 1)`
    })
    const counts = texts.map((_, i) => `(SELECT COUNT(*) FROM w${i})`)
    const answer = sure
      ? `1 / LEAST(${counts.join(', ')}, 1)`
      : counts.map((count, i) => `${count} AS c${i}`).join(', ')
    found = `WITH ${parts.join(', ')} SELECT ${answer}`
    joined.set(key, found)
  }
  return found
}

/** What a SELECT reads, or nothing if its rows have more text than that and are more than one. */
export const withinText = (sql: string, mostBytes: number) =>
  `WITH rows AS MATERIALIZED (${sql}) SELECT * FROM rows
   WHERE (SELECT COUNT(*) = 1 OR SUM(octet_length(rows::text)) <= ${mostBytes} FROM rows)`

/** About how many bytes the texts of each of its rows take. */
export const sizesText = (sql: string) => `SELECT octet_length(rows::text) AS bytes FROM (${sql}) rows`

/** Ids and terms are compared byte by byte on every engine, whatever the collation of the database. */
function schemaText(sql: string, lacks: Lacks): string {
  const text = lacks.has('unlogged tables') ? sql.replace(/\bUNLOGGED\b/, '') : sql
  return lacks.has('collations of columns') ? text : text.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"')
}

/** SQL for Postgres only is in comments that begin with a plus sign. One function has another name there. */
const uncommented = (sql: string) => sql.replace(/\/\*\+(.*?)\*\//gs, '$1').replaceAll('INSTR(', 'STRPOS(')
