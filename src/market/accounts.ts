/** Signing up, signing in, one's own account. Source: D9, D10, D12. */
import { refuse } from '../api/failures.ts'
import { durations } from '../api/limits.ts'
import type { TrustTier, UserRecord } from '../api/records.ts'
import type { Db, Tx } from '../store/db.ts'
import { deleteOtherSessions, deleteSession } from '../store/sessions.ts'
import { countOpenWork, insertUser, type UserRow, updateUser, userByEmail, userById } from '../store/users.ts'
import type { World } from '../world/world.ts'
import { createSession } from './credentials.ts'
import { openAccounts } from './ledger.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { iso } from './time.ts'
import type { Verb } from './verb.ts'

export { createAuthenticate, createSession, createTouch } from './credentials.ts'
export { hashPassword, hashRandomPassword } from './passwords.ts'

/** The first that fits. Source: D12. */
export function trustTierOf(user: UserRow, now: number): TrustTier {
  if (user.banned) return 'banned'
  if (user.suspended) return 'suspended'
  if (user.chargebacks > 0) return 'chargeback_risk'
  if (now - user.createdAt > durations.trustedAfterMs) return 'trusted'
  return user.identityVerified ? 'new_verified' : 'new_unverified'
}

export const userRecord = (user: UserRow, now: number): UserRecord => ({
  id: user.id,
  email: user.email,
  name: user.name,
  isBuilder: user.isBuilder === 1,
  isAdmin: user.isAdmin === 1,
  trustTier: trustTierOf(user, now),
  createdAt: iso(user.createdAt),
})

export interface NewUser {
  readonly email: string
  readonly name: string
  readonly passwordHash: string
  readonly isBuilder: boolean
  readonly isAdmin: boolean
}

/** Makes the account and its ledger accounts. Refuses an email that is taken. */
export async function createUser(tx: Tx, world: World, given: NewUser): Promise<UserRow> {
  const id = world.id('usr')
  const inserted = await insertUser(tx, {
    id,
    email: given.email,
    name: given.name,
    passwordHash: given.passwordHash,
    isBuilder: bit(given.isBuilder),
    isAdmin: bit(given.isAdmin),
    createdAt: world.now(),
  })
  if (inserted === 0) throw refuse('email_taken')
  await openAccounts(tx, id)
  return (await userById(tx, id))!
}

export const bit = (flag: boolean) => (flag ? 1 : 0)

/** Refuses to take the builder role from an account whose agents have work to finish. Source: D9. */
export async function checkRoleChange(tx: Tx, user: UserRow, isBuilder: boolean | undefined): Promise<void> {
  if (isBuilder !== false || !user.isBuilder) return
  await tx.lock('users', user.id)
  const open = await countOpenWork(tx, user.id)
  if (open > 0) throw refuse('open_work', unfinished(open))
}

export const unfinished = (tasks: number) =>
  tasks === 1 ? '1 task is not finished' : `${tasks} tasks are not finished`

const register: Verb<'register'> = async ({ db, world }, { body }) => {
  const passwordHash = await hashPassword(body.password)
  const { email, name, isBuilder = false } = body
  return db.write(async tx => {
    const user = await createUser(tx, world, { email, name, passwordHash, isBuilder, isAdmin: false })
    const session = await createSession(tx, world, user.id)
    return { data: { user: userRecord(user, world.now()) }, session }
  })
}

/** The account, if the password fits; the same refusal after the same time whether the email is known or not. */
async function checkLogin(db: Db, email: string, password: string): Promise<UserRow> {
  const user = await db.read(q => userByEmail(q, email))
  const fits = await verifyPassword(user?.passwordHash, password)
  if (!user || !fits) throw refuse('wrong_login')
  return user
}

const login: Verb<'login'> = async ({ db, world, actor }, { body }) => {
  const checked = await checkLogin(db, body.email, body.password)
  return db.write(async tx => {
    const user = await userById(tx, checked.id)
    // The password may have been changed while it was verified.
    if (user?.passwordHash !== checked.passwordHash) throw refuse('wrong_login')
    if (user.banned) throw refuse('banned')
    // The browser is about to forget the session it came with.
    if (actor?.via === 'session') await deleteSession(tx, actor.credential)
    const session = await createSession(tx, world, user.id)
    return { data: { user: userRecord(user, world.now()) }, session }
  })
}

const logout: Verb<'logout'> = async ({ tx, actor }) => {
  await deleteSession(tx, actor.credential)
  return { data: {}, session: null }
}

const me: Verb<'me'> = async ({ world, actor }) => ({ user: userRecord(actor.user, world.now()) })

const updateMe: Verb<'updateMe'> = async ({ tx, world, actor }, { body }) => {
  const { name, isBuilder } = body
  await checkRoleChange(tx, actor.user, isBuilder)
  const user = await updateUser(tx, actor.user.id, {
    ...(name !== undefined && { name }),
    ...(isBuilder !== undefined && { isBuilder: bit(isBuilder) }),
  })
  return { user: userRecord(user!, world.now()) }
}

const changePassword: Verb<'changePassword'> = async ({ db, world, actor }, { body }) => {
  const { id, passwordHash: checked } = actor.user
  if (!(await verifyPassword(checked, body.currentPassword))) throw refuse('wrong_password')
  const passwordHash = await hashPassword(body.newPassword)
  return db.write(async tx => {
    // Two changes at once: the second was asked for with a password that counts no more.
    if ((await userById(tx, id))?.passwordHash !== checked) throw refuse('wrong_password')
    const user = await updateUser(tx, id, { passwordHash })
    await deleteOtherSessions(tx, id, actor.credential)
    return { user: userRecord(user!, world.now()) }
  })
}

export const accountVerbs = { register, login, logout, me, updateMe, changePassword }
