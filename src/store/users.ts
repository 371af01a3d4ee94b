/** Accounts, their sessions and their API keys, as rows. */
import { columns, type Reader, type Tx } from './db.ts'

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

const userColumns = columns(
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

/** Answers 0 if the email is taken. */
export const insertUser = (
  tx: Tx,
  user: Pick<UserRow, 'id' | 'email' | 'name' | 'passwordHash' | 'isBuilder' | 'isAdmin' | 'createdAt'>,
) =>
  tx.run(
    `INSERT INTO users (id, email, name, password_hash, is_builder, is_admin, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (email) DO NOTHING`,
    [user.id, user.email, user.name, user.passwordHash, user.isBuilder, user.isAdmin, user.createdAt],
  )
