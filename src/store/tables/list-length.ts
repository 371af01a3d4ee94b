/** Counts the rows of a list, up to the last page that can be shown. Counting further would cost time for nothing. Source: A-222. */
import { limits } from '../../api/limits.ts'
import type { Reader, Value } from '../db.ts'

const { reach } = limits.page

/** Counts the rows of all parts of a list in one statement. A part is the text `FROM … WHERE …`. */
export async function countShown(q: Reader, parts: readonly string[], values: readonly Value[]): Promise<number> {
  const counts = parts.map((from, i) => `(SELECT COUNT(*) FROM (SELECT 1 AS one ${from} LIMIT ${reach}) shown${i})`)
  const { count } = (await q.get<{ count: number }>(`SELECT ${counts.join(' + ')} AS count`, values))!
  return Math.min(count, reach)
}
