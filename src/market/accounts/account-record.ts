/** Makes the records of accounts that responses contain. Source. */
import { durations } from '../../api/limits.ts'
import { type TrustTier, type UserRecord, user } from '../../api/records.ts'
import { type UserRow, users } from '../../store/tables/accounts/users.ts'
import { recordMaker } from '../record-maker.ts'
import { iso } from '../time.ts'

/** Returns the first tier whose condition holds. Source: A-12. */
export function trustTierOf(user: UserRow, now: number): TrustTier {
  if (user.banned) return 'banned'
  if (user.suspended) return 'suspended'
  if (user.chargebacks > 0) return 'chargeback_risk'
  if (now - user.createdAt > durations.trustedAfterMs) return 'trusted'
  return user.identityVerified ? 'new_verified' : 'new_unverified'
}

const makeUser = recordMaker(user, users)

export const userRecord = (row: UserRow, now: number): UserRecord =>
  makeUser(row, {
    isBuilder: row.isBuilder === 1,
    isAdmin: row.isAdmin === 1,
    trustTier: trustTierOf(row, now),
    createdAt: iso(row.createdAt),
  })
