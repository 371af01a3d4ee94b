/**
 * What a server may lack that speaks as Postgres does, as CockroachDB and YugabyteDB are: a start finds out and names it, and the
 * marketplace does without. Source: A-323.
 */
import type pg from 'pg'
import { StoreError } from '../db.ts'
import { codeOf } from './errors.ts'

/**
 * None of them changes anything, and none waits for anybody. A statement that writes one table twice is refused by some too, and is
 * not here: none is ever asked.
 */
const probes = {
  'levels of isolation': `BEGIN ISOLATION LEVEL READ COMMITTED; SHOW transaction_isolation; COMMIT`,
  'advisory locks': 'SELECT pg_try_advisory_xact_lock(742002)',
  'unlogged tables': 'EXPLAIN CREATE UNLOGGED TABLE never_made AS SELECT 1 AS one',
  'collations of columns': `SELECT 'B' COLLATE "C" < 'a'`,
} as const

type Feature = keyof typeof probes
export type Lacks = ReadonlySet<Feature>

export const NOTHING: Lacks = new Set()

export async function lacksOf(client: pg.ClientBase): Promise<Lacks> {
  const asked = Object.entries(probes).map(async ([feature, sql]) => ((await has(client, sql)) ? [] : [feature]))
  const lacks = new Set((await Promise.all(asked)).flat()) as Set<Feature>
  if (lacks.has('collations of columns') && !(await ordersBytes(client))) throw new StoreError(UNORDERED)
  return lacks
}

/** The server may also answer with a stricter level than was asked for. */
async function has(client: pg.ClientBase, sql: string): Promise<boolean> {
  try {
    const told = [await client.query(sql)].flat().flatMap(({ rows }) => rows)
    return !told.some(({ transaction_isolation: level }) => level !== undefined && level !== 'read committed')
  } catch (error) {
    // Not supported, no such syntax, function, setting or collation.
    if (/^(?:0A000|42)/.test(codeOf(error))) return false
    throw error
  }
}

const ordersBytes = async (client: pg.ClientBase) =>
  (await client.query(`SELECT 'B' < 'a' AS bytes`)).rows[0].bytes as boolean

const UNORDERED =
  'This server takes no collation of columns, and its database does not order texts byte by byte, as the marketplace has to. Make one with the collation C.'

export const withoutThem = (lacks: Lacks) =>
  `This server is not all that Postgres is: it has no ${[...lacks].join(', no ')}. The marketplace does without; what was tried of that is in the guide about growing, docs/guides/scale.md.`
