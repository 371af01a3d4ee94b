/** Accounts, as rows. */
import { columns, type Reader, type Tx } from '../db.ts'
import { tallied, tally } from './tallies.ts'

export interface UserRow {
  id: string
  email: string
  name: string
  passwordHash: string
  isBuilder: 0 | 1
  isAdmin: 0 | 1
  suspended: 0 | 1
  banned: 0 | 1
  identityVerified: 0 | 1
  chargebacks: number
  connectStatus: 'not_connected' | 'pending' | 'connected'
  createdAt: number
}

/** All of a `UserRow`; fits a join whose other columns have other names. */
export const userColumns = columns(
  'id',
  'email',
  'name',
  'passwordHash',
  'isBuilder',
  'isAdmin',
  'suspended',
  'banned',
  'identityVerified',
  'chargebacks',
  'connectStatus',
  'createdAt',
)

export const userById = (q: Reader, id: string) =>
  q.get<UserRow>(`SELECT ${userColumns} FROM users WHERE id = $1`, [id])

export const userByEmail = (q: Reader, email: string) =>
  q.get<UserRow>(`SELECT ${userColumns} FROM users WHERE email = $1`, [email])

/** Whether anybody may approve, confirm and resolve. */
/** Addresses of administrators whose second factor is not turned on, `limit` of them. */
export const withoutSecondFactor = async (q: Reader, limit: number) =>
  (
    await q.all<{ email: string }>(
      `SELECT email FROM users WHERE is_admin = 1 AND banned = 0 AND NOT EXISTS
         (SELECT 1 FROM second_factors f WHERE f.user_id = users.id AND f.enabled_at IS NOT NULL) ORDER BY id LIMIT $1`,
      [limit],
    )
  ).map(({ email }) => email)

export const hasAdministrator = async (q: Reader): Promise<boolean> =>
  (await q.get('SELECT 1 AS one FROM users WHERE is_admin = 1 AND banned = 0 LIMIT 1')) !== undefined

/** Answers 0 if the email is taken. */
export const insertUser = async (
  tx: Tx,
  user: Pick<UserRow, 'id' | 'email' | 'name' | 'passwordHash' | 'isBuilder' | 'isAdmin' | 'createdAt'>,
) => {
  const inserted = await tx.run(
    `INSERT INTO users (id, email, name, password_hash, is_builder, is_admin, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (email) DO NOTHING`,
    [user.id, user.email, user.name, user.passwordHash, user.isBuilder, user.isAdmin, user.createdAt],
  )
  if (inserted === 1) await tally(tx, 'users', user.id, 1)
  return inserted
}

/** What may change of an account; what is left out stays. */
export type UserChange = Partial<
  Pick<
    UserRow,
    | 'name'
    | 'passwordHash'
    | 'isBuilder'
    | 'suspended'
    | 'banned'
    | 'identityVerified'
    | 'chargebacks'
    | 'connectStatus'
  >
>

// No column of users can be null, so null stands for "as it is".
const CHANGE = `UPDATE users SET name = COALESCE($2, name), password_hash = COALESCE($3, password_hash),
  is_builder = COALESCE($4, is_builder), suspended = COALESCE($5, suspended), banned = COALESCE($6, banned),
  identity_verified = COALESCE($7, identity_verified), chargebacks = COALESCE($8, chargebacks),
  connect_status = COALESCE($9, connect_status)
  WHERE id = $1 RETURNING ${userColumns}`

/** Answers the row as it is then; undefined if there is no such account. */
export const updateUser = (tx: Tx, id: string, change: UserChange) =>
  tx.get<UserRow>(CHANGE, [
    id,
    change.name ?? null,
    change.passwordHash ?? null,
    change.isBuilder ?? null,
    change.suspended ?? null,
    change.banned ?? null,
    change.identityVerified ?? null,
    change.chargebacks ?? null,
    change.connectStatus ?? null,
  ])

/** One page of all accounts, oldest first. */
export const listUsers = (q: Reader, limit: number, offset: number) =>
  q.all<UserRow>(`SELECT ${userColumns} FROM users ORDER BY id LIMIT $1 OFFSET $2`, [limit, offset])

export const countUsers = (q: Reader) => tallied(q, ['users'])

/** Tasks of a builder's agents that hold money or are in open dispute. */
export const countOpenWork = async (q: Reader, builderId: string) => {
  const row = await q.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM tasks
     WHERE builder_id = $1 AND (status IN ('pending', 'in_progress', 'delivered')
       OR EXISTS (SELECT 1 FROM disputes WHERE disputes.task_id = tasks.id AND disputes.status = 'open'))`,
    [builderId],
  )
  return row!.count
}
