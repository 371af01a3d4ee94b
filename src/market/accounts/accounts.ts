/** Sign-up, sign-in and one's own account. Source. */
import { refuse } from '../../api/failures.ts'
import type { Tx } from '../../store/db.ts'
import { deleteKeys } from '../../store/tables/accounts/keys.ts'
import { deleteOtherSessions, deleteSession } from '../../store/tables/accounts/sessions.ts'
import { countOpenWork, insertUser, type UserRow, updateUser, userById } from '../../store/tables/accounts/users.ts'
import type { World } from '../../world/world.ts'
import { openAccounts } from '../money/ledger.ts'
import type { Verb } from '../verb.ts'
import { userRecord } from './account-record.ts'
import { refuseGuessable } from './common-passwords.ts'
import { checkOwnPassword, forgive } from './guesses.ts'
import { voidResets } from './password-reset.ts'
import { hashPassword } from './passwords.ts'
import { keysEnded, notifyOwner } from './security-notices.ts'
import { beginSession, login, passwordTargets } from './sign-in.ts'

export { trustTierOf, userRecord } from './account-record.ts'
export { createAuthenticate, createTouch } from './credentials.ts'
export { hashPassword, hashRandomPassword } from './passwords.ts'

export interface NewUser {
  readonly email: string
  readonly name: string
  readonly passwordHash: string
  readonly isBuilder: boolean
  readonly isAdmin: boolean
}

/** Creates an account with its ledger accounts. Refuses an email that is taken. */
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

/** Refuses to end the builder role of an account whose agents have unfinished tasks. Source: A-9. */
export async function checkRoleChange(tx: Tx, user: UserRow, isBuilder: boolean | undefined): Promise<void> {
  if (isBuilder !== false || !user.isBuilder) return
  await tx.lock('users', user.id)
  const open = await countOpenWork(tx, user.id)
  if (open > 0) throw refuse('open_work', unfinished(open))
}

export const unfinished = (tasks: number) =>
  tasks === 1 ? '1 task is not finished' : `${tasks} tasks are not finished`

const register: Verb<'register'> = async ({ db, world, config, caller }, { body }) => {
  await refuseGuessable('password', body.password, body, config)
  const passwordHash = await hashPassword(body.password, caller)
  const { email, name, isBuilder = false } = body
  return db.write(async tx => {
    const user = await createUser(tx, world, { email, name, passwordHash, isBuilder, isAdmin: false })
    const session = await beginSession(tx, world, user.id, caller)
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

const changePassword: Verb<'changePassword'> = async (ctx, { body }) => {
  const { db, world, config, actor, caller } = ctx
  const { id, passwordHash: checked } = actor.user
  await checkOwnPassword(ctx, actor.user, body.currentPassword)
  await refuseGuessable('newPassword', body.newPassword, actor.user, config)
  const passwordHash = await hashPassword(body.newPassword, caller)
  const changed = await db.write(async tx => {
    // Of two changes at once, the second was made with a password that is no longer valid.
    if ((await userById(tx, id))?.passwordHash !== checked) throw refuse('wrong_password')
    const user = await updateUser(tx, id, { passwordHash })
    await deleteOtherSessions(tx, id, actor.credential)
    await voidResets(tx, actor.user)
    const ended = body.endKeys ? await deleteKeys(tx, id) : 0
    const notice = { kind: 'password_changed', detail: keysEnded(ended), address: caller?.address } as const
    await notifyOwner({ tx, world, config }, id, notice)
    return { user: userRecord(user!, world.now()) }
  })
  // What strangers have tried was tried at another password. So a session elsewhere opens the way to a new address.
  await forgive(ctx, passwordTargets(actor.user, caller?.address ?? ''))
  return changed
}

export const accountVerbs = { register, login, logout, me, updateMe, changePassword }
