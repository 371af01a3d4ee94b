/** Removes rows whose time is over, a few at a time. An index on their age finds them. Source: A-49. */
import type { Reader, Tx, Value } from '../../db.ts'
import { unpacked } from '../../packed-text.ts'
import { deleteNotice } from '../accounts/mails.ts'
import type { Row } from '../table.ts'
import { deliveries } from '../webhooks/outbox.ts'
import { uncountBytes } from './usage.ts'

/** The bytes of a webhook besides its body: its row, its attempts and their responses. */
export const WEBHOOK_BYTES = 8 * 1024

interface Rule {
  readonly table: string
  /** Its primary key. */
  readonly key: string
  /** The column of the time from which a row's age counts, or at which it ends. */
  readonly age: string
  /** A condition for the rows that are meant. There is an index of just these. */
  readonly only?: string
}

const rules = {
  /** Empties the body and removes the attempts. The row of the delivery stays. */
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

const hasOlder = keptKinds
  .map((kind, at) => {
    const rule = ruleOf(kind)
    return `SELECT '${kind}' AS kind WHERE EXISTS (SELECT 1 FROM ${rule.table} WHERE ${rule.age} <= $${at + 1}${onlyOf(rule)})`
  })
  .join(' UNION ALL ')

/** The kinds of which there are rows as old as this. It is asked every second, so in one statement. */
export async function olderKinds(q: Reader, before: Readonly<Record<Kept, number>>): Promise<Kept[]> {
  const found = await q.all<{ kind: Kept }>(
    hasOlder,
    keptKinds.map(kind => before[kind]),
  )
  return found.map(({ kind }) => kind)
}

/** The time of the oldest row; null if there is none. */
export async function oldestOf(q: Reader, kind: Kept): Promise<number | null> {
  const { table, age, only } = ruleOf(kind)
  const sql = `SELECT MIN(${age}) AS oldest FROM ${table} WHERE ${age} IS NOT NULL${only ? ` AND ${only}` : ''}`
  return (await q.get<{ oldest: number | null }>(sql))!.oldest
}

// Another instance may be removing the same.
const oldest = (rule: Rule, what: string) =>
  `SELECT ${what} FROM ${rule.table} WHERE ${rule.age} <= $1${onlyOf(rule)}
    ORDER BY ${rule.age} LIMIT $2 /*+ FOR UPDATE SKIP LOCKED */`

/** Removes up to `count` rows as old as `before`, the oldest first. Returns how many it removed. */
export async function removeOlder(tx: Tx, kind: Kept, before: number, count: number): Promise<number> {
  const rule = ruleOf(kind)
  const { table, key } = rule
  const old = `(${key}) IN (${oldest(rule, key)})`
  if (kind === 'delivery_bodies') return emptyDeliveries(tx, [before, count])
  if (kind === 'mails') return removeMails(tx, old, [before, count])
  return tx.run(`DELETE FROM ${table} WHERE ${old}`, [before, count])
}

const ofBody = ['id', 'countedTo', 'body'] as const
type DeliveryBody = Pick<Row<typeof deliveries>, (typeof ofBody)[number]>

async function emptyDeliveries(tx: Tx, values: readonly Value[]): Promise<number> {
  const old = await tx.all<DeliveryBody>(oldest(rules.delivery_bodies, deliveries.some(ofBody)), values)
  await emptyBodies(tx, old)
  return old.length
}

/** Removes the bodies of these deliveries and their attempts. Returns how many bytes of quotas that gives back. */
export async function emptyBodies(tx: Tx, old: readonly DeliveryBody[]): Promise<number> {
  if (old.length === 0) return 0
  await tx.runAll(old.map(({ id }) => deliveries.updateStep({ id }, { body: '' })))
  await Promise.all(old.map(({ id }) => tx.run('DELETE FROM attempts WHERE delivery_id = $1', [id])))
  const given = new Map<string, number>()
  for (const { countedTo, body } of old) {
    if (countedTo === null) continue
    const bytes = Buffer.byteLength(unpacked(body)) // as it was counted, however it is stored
    given.set(countedTo, (given.get(countedTo) ?? 0) + bytes + WEBHOOK_BYTES)
  }
  // Always in the same order; otherwise two instances could deadlock.
  for (const userId of [...given.keys()].sort()) await uncountBytes(tx, 'text_usage', userId, given.get(userId)!)
  return [...given.values()].reduce((sum, bytes) => sum + bytes, 0)
}

/** Removes mails with their security notices, which nothing else needs. */
async function removeMails(tx: Tx, old: string, values: readonly Value[]): Promise<number> {
  const removed = await tx.all<{ about: string }>(`DELETE FROM mails WHERE ${old} RETURNING about`, values)
  await Promise.all(removed.map(({ about }) => deleteNotice(tx, about)))
  return removed.length
}
