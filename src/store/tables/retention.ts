/** Rows whose time is over, found by an index on their age and removed a few at a time. Source: D49. */
import type { Reader, Tx, Value } from '../db.ts'
import { deleteNotice } from './security-notices.ts'

interface Rule {
  readonly table: string
  /** Its primary key. */
  readonly key: string
  /** When a row's time begins to run, or ends. */
  readonly age: string
  /** Of which rows alone; there is an index of just these. */
  readonly only?: string
}

const rules = {
  /** What was sent and what came back; the row stays, and says so. */
  delivery_bodies: { table: 'deliveries', key: 'id', age: 'ended_at', only: `body <> ''` },
  deliveries: { table: 'deliveries', key: 'id', age: 'ended_at', only: `body = ''` },
  notifications: { table: 'notifications', key: 'id', age: 'created_at' },
  mails: { table: 'mails', key: 'id', age: 'next_at' },
  sessions: { table: 'sessions', key: 'token_hash', age: 'seen_at' },
  password_resets: { table: 'password_resets', key: 'token_hash', age: 'created_at' },
  idempotency_keys: { table: 'idempotency_keys', key: 'user_id, method, path, key', age: 'created_at' },
  seen_signatures: { table: 'seen_signatures', key: 'signature', age: 'seen_at' },
  rate_windows: { table: 'rate_windows', key: 'category, address', age: 'ends_at' },
  guesses: { table: 'guesses', key: 'subject', age: 'ends_at' },
} as const satisfies Record<string, Rule>

export type Kept = keyof typeof rules
export const keptKinds = Object.keys(rules) as Kept[]

const ruleOf = (kind: Kept): Rule => rules[kind]
const onlyOf = ({ only }: Rule) => (only ? ` AND ${only}` : '')

export async function hasOlder(q: Reader, kind: Kept, before: number): Promise<boolean> {
  const rule = ruleOf(kind)
  const sql = `SELECT 1 AS one FROM ${rule.table} WHERE ${rule.age} <= $1${onlyOf(rule)} LIMIT 1`
  return (await q.get(sql, [before])) !== undefined
}

/** Of the oldest; null if there is none. */
export async function oldestOf(q: Reader, kind: Kept): Promise<number | null> {
  const { table, age, only } = ruleOf(kind)
  const sql = `SELECT MIN(${age}) AS oldest FROM ${table} WHERE ${age} IS NOT NULL${only ? ` AND ${only}` : ''}`
  return (await q.get<{ oldest: number | null }>(sql))!.oldest
}

/** Removes up to `count` of what is as old as `before`, the oldest first. Returns how many it were. */
export async function removeOlder(tx: Tx, kind: Kept, before: number, count: number): Promise<number> {
  const rule = ruleOf(kind)
  const { table, key, age } = rule
  // Another instance may be removing the same.
  const old = `(${key}) IN (SELECT ${key} FROM ${table} WHERE ${age} <= $1${onlyOf(rule)}
    ORDER BY ${age} LIMIT $2 /*+ FOR UPDATE SKIP LOCKED */)`
  if (kind === 'delivery_bodies') return emptyDeliveries(tx, old, [before, count])
  if (kind === 'mails') return removeMails(tx, old, [before, count])
  return tx.run(`DELETE FROM ${table} WHERE ${old}`, [before, count])
}

async function emptyDeliveries(tx: Tx, old: string, values: readonly Value[]): Promise<number> {
  const emptied = await tx.all<{ id: string }>(`UPDATE deliveries SET body = '' WHERE ${old} RETURNING id`, values)
  await Promise.all(emptied.map(({ id }) => tx.run('DELETE FROM attempts WHERE delivery_id = $1', [id])))
  return emptied.length
}

/** A security notice is there for its letter alone. */
async function removeMails(tx: Tx, old: string, values: readonly Value[]): Promise<number> {
  const removed = await tx.all<{ about: string }>(`DELETE FROM mails WHERE ${old} RETURNING about`, values)
  await Promise.all(removed.map(({ about }) => deleteNotice(tx, about)))
  return removed.length
}
