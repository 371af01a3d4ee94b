/** Makes the records of accounts that responses contain. Source. */
import { durations } from '../../api/limits.ts'
import type { TrustTier, UserRecord } from '../../api/records.ts'
import type { UserRow } from '../../store/tables/users.ts'
import { iso } from '../time.ts'

/** Returns the first tier whose condition holds. Source: A-12. */
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
