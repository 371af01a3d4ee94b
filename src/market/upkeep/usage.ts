/** Who fills the marketplace, for its operator. Source: A-291. */
import { rowsOf } from '../../api/page.ts'
import { queuesNow } from '../../store/tables/upkeep/queues.ts'
import { countAccountsWith, fullestAccounts } from '../../store/tables/upkeep/usage.ts'
import { filesWhole } from '../room.ts'
import { isoOrNull } from '../time.ts'
import type { Verb } from '../verb.ts'

const adminUsage: Verb<'adminUsage'> = async ctx => ({ database: ctx.db.fill, files: await filesWhole(ctx) })

const adminListUsage: Verb<'adminListUsage'> = async ({ tx }, { query }) => {
  const by = query.by ?? 'texts'
  const [rows, total] = await Promise.all([fullestAccounts(tx, by, ...rowsOf(query)), countAccountsWith(tx, by)])
  return { items: rows.map(row => ({ ...row, banned: row.banned === 1 })), total }
}

const adminQueues: Verb<'adminQueues'> = async ({ tx }) => {
  const queues = (await queuesNow(tx)).map(({ queue, count, oldestAt }) => [
    queue,
    { count, oldestAt: isoOrNull(oldestAt) },
  ])
  return Object.fromEntries(queues)
}

export const usageVerbs = { adminUsage, adminListUsage, adminQueues }
