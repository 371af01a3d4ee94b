/** What administrators see and change of accounts. Source. */
import type * as z from 'zod'
import type { adminUser } from '../../api/endpoints/admin.ts'
import { invalid, refuse } from '../../api/failures.ts'
import { rowsOf } from '../../api/page.ts'
import { deleteSecondFactor } from '../../store/tables/accounts/second-factors.ts'
import {
  countUsers,
  listUsers,
  type UserChange,
  type UserRow,
  updateUser,
  userByEmail,
  userById,
  usersCalled,
  withoutSecondFactor,
} from '../../store/tables/accounts/users.ts'
import { balancesOf } from '../../store/tables/money/transfers.ts'
import type { Acting, Ctx } from '../market.ts'
import type { Verb } from '../verb.ts'
import { bit, checkRoleChange, userRecord } from './accounts.ts'
import { notifyOwner } from './security-notices.ts'

const adminRecord = (user: UserRow, now: number): z.infer<ReturnType<typeof adminUser>> => ({
  ...userRecord(user, now),
  suspended: user.suspended === 1,
  banned: user.banned === 1,
  identityVerified: user.identityVerified === 1,
  chargebacks: user.chargebacks,
  connectStatus: user.connectStatus,
})

const adminListUsers: Verb<'adminListUsers'> = async ({ tx, world }, { query }) => {
  const now = world.now()
  if (query.email !== undefined) {
    const user = await userByEmail(tx, query.email)
    return { items: user && query.page === 1 ? [adminRecord(user, now)] : [], total: user ? 1 : 0 }
  }
  if (query.secondFactor) {
    const { rows, total } = await withoutSecondFactor(tx, ...rowsOf(query))
    return { items: rows.map(row => adminRecord(row, now)), total }
  }
  const words = query.q?.trim()
  if (words) {
    const { rows, total } = await usersCalled(tx, words, ...rowsOf(query))
    return { items: rows.map(row => adminRecord(row, now)), total }
  }
  const [rows, total] = await Promise.all([listUsers(tx, ...rowsOf(query)), countUsers(tx)])
  return { items: rows.map(row => adminRecord(row, now)), total }
}

const adminGetUser: Verb<'adminGetUser'> = async ({ tx, world }, { params }) => {
  const user = await userById(tx, params.id)
  if (!user) throw refuse('not_found', 'account')
  const wallet = { available: 0, held: 0, clearing: 0 }
  for (const { kind, balance } of await balancesOf(tx, user.id)) wallet[kind] = balance
  return { ...adminRecord(user, world.now()), wallet }
}

const adminUpdateUser: Verb<'adminUpdateUser'> = async (ctx, { params, body }) => {
  const { tx, world, actor } = ctx
  const before = await userById(tx, params.id)
  if (!before) throw refuse('not_found', 'account')
  // There may be no other administrator who could undo it.
  if (body.banned && before.id === actor.user.id) throw invalid({ banned: ['must not be your own account'] })
  await checkRoleChange(tx, before, body.isBuilder)
  if (body.secondFactor === false) await dropSecondFactor(ctx, before.id)
  const user = await updateUser(tx, before.id, changeOf(body))
  return adminRecord(user!, world.now())
}

/**
 * Turns off the second factor of someone who lost the device and the recovery codes. It takes a session, and can't be one's
 * own.
 */
async function dropSecondFactor(ctx: Acting<Ctx>, userId: string): Promise<void> {
  const { tx, actor } = ctx
  if (actor.via !== 'session') throw refuse('session_needed')
  if (userId === actor.user.id) throw invalid({ secondFactor: ['is your own: DELETE /api/auth/totp, with a code'] })
  if (!(await deleteSecondFactor(tx, userId))) throw invalid({ secondFactor: ['is off: this account has none'] })
  await notifyOwner(ctx, userId, { kind: 'second_factor_off', detail: ' by an administrator' })
}

const flags = ['suspended', 'banned', 'identityVerified', 'isBuilder'] as const

function changeOf(body: Parameters<typeof adminUpdateUser>[1]['body']): UserChange {
  const change: UserChange = {}
  for (const name of flags) {
    const flag = body[name]
    if (flag !== undefined) change[name] = bit(flag)
  }
  if (body.chargebacks !== undefined) change.chargebacks = body.chargebacks
  if (body.connectStatus !== undefined) change.connectStatus = body.connectStatus
  return change
}

export const peopleVerbs = { adminListUsers, adminGetUser, adminUpdateUser }
