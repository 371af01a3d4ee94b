/** Accounts. */
import { limits } from '../../../api/limits.ts'
import type { ConnectStatus } from '../../../api/money-records.ts'
import type { Reader, Tx } from '../../db.ts'
import {
  bigint,
  countShown,
  defaulted,
  flag,
  integer,
  LAST_CHARACTER,
  lowerAscii,
  type NewRow,
  type Patch,
  type Row,
  readPage,
  table,
  text,
} from '../table.ts'
import { tallied, tally } from '../tallies.ts'

export const users = table('users', {
  id: text(),
  email: text(),
  name: text(),
  passwordHash: text(),
  isBuilder: flag(),
  isAdmin: flag(),
  suspended: defaulted(flag()),
  banned: defaulted(flag()),
  identityVerified: defaulted(flag()),
  chargebacks: defaulted(integer()),
  connectStatus: defaulted(text<ConnectStatus>()),
  createdAt: bigint(),
})

export type UserRow = Row<typeof users>

export const userById = (q: Reader, id: string) => q.get<UserRow>(`SELECT ${users.all} FROM users WHERE id = $1`, [id])

export const builderOfTask = (q: Reader, taskId: string) =>
  q.get<UserRow>(`SELECT ${users.all} FROM users WHERE id = (SELECT t.builder_id FROM tasks t WHERE t.id = $1)`, [
    taskId,
  ])

export const userByEmail = (q: Reader, email: string) =>
  q.get<UserRow>(`SELECT ${users.all} FROM users WHERE email = $1`, [email])

/** Names and emails of some accounts, by their ids. */
export async function peopleById(q: Reader, ids: readonly string[]) {
  const wanted = [...new Set(ids)]
  const rows =
    wanted.length === 0
      ? []
      : await q.all<Pick<UserRow, 'id' | 'name' | 'email'>>(
          `SELECT id, name, email FROM users WHERE id IN (${wanted.map((_, i) => `$${i + 1}`).join(', ')})`,
          wanted,
        )
  return new Map(rows.map(row => [row.id, row]))
}
export type People = Awaited<ReturnType<typeof peopleById>>

const lacksSecondFactor = `FROM users WHERE is_admin = 1 AND banned = 0 AND NOT EXISTS
  (SELECT 1 FROM second_factors f WHERE f.user_id = users.id AND f.enabled_at IS NOT NULL)`

/** Administrators whose second factor is not turned on, oldest first, and how many there are. */
export async function withoutSecondFactor(q: Reader, limit: number, offset = 0) {
  const values = [limit, offset]
  const rows = await readPage<UserRow>(
    q,
    `SELECT ${users.all} ${lacksSecondFactor} ORDER BY id LIMIT $1 OFFSET $2`,
    values,
  )
  return { rows, total: await countShown(q, [lacksSecondFactor], []) }
}

/** Whether there is an administrator who is not banned. */
export const hasAdministrator = async (q: Reader): Promise<boolean> =>
  (await q.get('SELECT 1 AS one FROM users WHERE is_admin = 1 AND banned = 0 LIMIT 1')) !== undefined

/** Returns 0 if the email is taken. */
export const insertUser = async (tx: Tx, user: NewRow<typeof users>) => {
  const inserted = await users.insert(tx, user, 'ON CONFLICT (email) DO NOTHING')
  if (inserted === 1) await tally(tx, 'users', user.id, 1)
  return inserted
}

/** The columns of an account that may change. */
export type UserChange = Omit<Patch<typeof users>, 'id' | 'email' | 'isAdmin' | 'createdAt'>

/** Returns the changed row; undefined if there is no such account. */
export const updateUser = (tx: Tx, id: string, change: UserChange) =>
  Object.keys(change).length === 0 ? userById(tx, id) : users.updated(tx, { id }, change)

/** One page of all accounts, oldest first. */
export const listUsers = (q: Reader, limit: number, offset: number) =>
  readPage<UserRow>(q, `SELECT ${users.all} FROM users ORDER BY id LIMIT $1 OFFSET $2`, [limit, offset])

const found = `SELECT id FROM users WHERE id = $1
  UNION SELECT id FROM (SELECT id FROM users WHERE email >= $2 AND email < $3 ORDER BY email LIMIT ${limits.page.reach}) side0
  UNION SELECT id FROM (SELECT id FROM users WHERE LOWER(name) >= $2 AND LOWER(name) < $3
    ORDER BY LOWER(name), id LIMIT ${limits.page.reach}) side1`

/** Accounts whose name or email begins so, without regard to the case of A to Z, or with this id; oldest first, and how many. */
export async function usersCalled(q: Reader, words: string, limit: number, offset: number) {
  const start = lowerAscii(words)
  const values = [words, start, start + LAST_CHARACTER]
  const page = `SELECT mine.id FROM (${found}) mine ORDER BY mine.id LIMIT $4 OFFSET $5`
  const rows = await readPage<UserRow>(q, `SELECT ${users.all} FROM users WHERE id IN (${page}) ORDER BY id`, [
    ...values,
    limit,
    offset,
  ])
  return { rows, total: await countShown(q, [`FROM (${found}) mine`], values) }
}

export const countUsers = (q: Reader) => tallied(q, ['users'])

/** How many tasks of a builder's agents have money in escrow or an open dispute. */
export const countOpenWork = async (q: Reader, builderId: string) => {
  const row = await q.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM tasks
     WHERE builder_id = $1 AND (status IN ('pending', 'in_progress', 'delivered')
       OR EXISTS (SELECT 1 FROM disputes WHERE disputes.task_id = tasks.id AND disputes.status = 'open'))`,
    [builderId],
  )
  return row!.count
}
