/** Who may call an endpoint, by the standing and the roles of the account. Source: I-role, A-12. */

import type { Endpoint } from '../api/endpoint.ts'
import { refuse } from '../api/failures.ts'
import type { Db } from '../store/db.ts'
import type { UserRow } from '../store/tables/accounts/users.ts'

type Rule = Pick<Endpoint, 'role' | 'whenSuspended'>

/** Refuses if this account may not call the endpoint. */
export function refuseUnlessMay({ role, whenSuspended }: Rule, user: UserRow): void {
  if (user.banned) throw refuse('banned')
  if (role === 'builder' && !user.isBuilder) throw refuse('builder_only')
  if (role === 'admin' && !user.isAdmin) throw refuse('admin_only')
  if (whenSuspended === 'refused' && user.suspended) throw refuse('suspended')
}

/**
 * Throws a refusal if the database is full and the request would add data. `isNew` is called only if it is full. Steps that finish
 * open work never call this. Source: A-50.
 */
export function refuseWhenFull(db: Pick<Db, 'isFull'>, isNew = () => true): void {
  if (db.isFull && isNew()) throw refuse('full')
}
