/** Refuses what would add data when the database is full. Steps that finish open work never call this. Source: A-50. */
import { refuse } from '../api/failures.ts'
import type { Db } from '../store/db.ts'

/** Throws a refusal if the database is full and the request would add data. `isNew` is called only if it is full. */
export function refuseWhenFull(db: Pick<Db, 'isFull'>, isNew = () => true): void {
  if (db.isFull && isNew()) throw refuse('full')
}
