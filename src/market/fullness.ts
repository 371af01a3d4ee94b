/** Nothing new where the database is full. What ends something that is open is never asked. Source: A-50. */
import { refuse } from '../api/failures.ts'
import type { Db } from '../store/db.ts'

/** Throws a refusal if the database takes nothing new, and what is asked for would be. */
export function refuseWhenFull({ fill }: Pick<Db, 'fill'>, isNew = () => true): void {
  if (fill && fill.bytes >= fill.limit && isNew()) throw refuse('full')
}
