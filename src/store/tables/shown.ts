/** How long a list is, as far as it is shown: what is behind that is not counted, so that it costs nobody's time. Source: A-222. */
import { limits } from '../../api/limits.ts'
import type { Reader, Value } from '../db.ts'

const { reach } = limits.page

/** Counts the rows of each part of a list, all in one statement; each is `FROM … WHERE …`. */
export async function countShown(q: Reader, parts: readonly string[], values: readonly Value[]): Promise<number> {
  const counts = parts.map((from, i) => `(SELECT COUNT(*) FROM (SELECT 1 AS one ${from} LIMIT ${reach}) shown${i})`)
  const { count } = (await q.get<{ count: number }>(`SELECT ${counts.join(' + ')} AS count`, values))!
  return Math.min(count, reach)
}
