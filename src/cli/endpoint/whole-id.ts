/** Ids as people have them: the last characters of one, as the log shows it; a slug; the email of an account. Source: A-296. */
import type { Pagination } from '../../api/endpoints/calls.ts'
import type { EndpointName } from '../../api/endpoints/index.ts'
import { UsageError } from '../../settings/config.ts'
import type { Connection } from '../connection/connection.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'

/** The fewest last characters that are looked for. */
const LEAST = 6
const TAIL = new RegExp(`^…?(?:[a-z]+_)?([0-9a-f]{${LEAST},32})$`)
const WHOLE = /^[a-z]+_[0-9a-f]{32}$/
/** What is looked through, newest first where the list is so. */
const PAGES = 5
const PAGE = 100

interface Item {
  readonly id: string
  readonly slug?: string
  readonly email?: string
}
type Page = Readonly<Record<string, unknown>> & { pagination?: Pagination }

/** The list that has what an argument names, by the argument's word, of the row whose words come first. */
const lists: readonly (readonly [row: RegExp, word: RegExp, list: EndpointName])[] = [
  [/^admin agents /, /^agent-id$/, 'adminListAgents'],
  [/^admin deposits /, /^id$/, 'adminListDeposits'],
  [/^admin withdrawals /, /^id$/, 'adminListWithdrawals'],
  [/^admin /, /^task-id$/, 'adminListTasks'],
  [/^admin /, /^user-id$/, 'adminListUsers'],
  [/^/, /^task-id$/, 'listTasks'],
  [/^/, /^budget-id$/, 'listBudgets'],
  [/^/, /^key-id$/, 'listKeys'],
  [/^/, /^notification-id$/, 'listNotifications'],
  [/^/, /^session-id$/, 'listSessions'],
]

/** Returns the id that a word means; the word itself if nothing that is listed fits: the marketplace says what it is not. */
export async function wholeId(connection: Connection, row: string, word: string, given: string): Promise<string> {
  const list = lists.find(([ofRow, ofWord]) => ofRow.test(row) && ofWord.test(word))?.[2]
  return list === undefined ? given : ((await idIn(connection, list, given)) ?? given)
}

/** `list`: an administrator's key finds tasks of others in the list of administrators alone. */
export const taskCalled = async (
  connection: Pick<Connection, 'client'>,
  given: string,
  list: 'listTasks' | 'adminListTasks' = 'listTasks',
) => (await idIn(connection, list, given)) ?? given

/** `of`: the rest of the query. Throws if several fit. Resolves to undefined if the word is no such thing, or if none fits. */
export async function idIn(
  { client }: Pick<Connection, 'client'>,
  list: EndpointName,
  given: string,
  of: object = {},
): Promise<string | undefined> {
  const ask = client[list] as (input: object) => PromiseLike<Page | readonly Item[]>
  const isEmail = list === 'adminListUsers' && given.includes('@')
  const [, tail] = TAIL.exec(given) ?? []
  if (WHOLE.test(given) || (!isEmail && tail === undefined && list !== 'adminListAgents')) return undefined
  const fits = ({ id, slug, email }: Item) =>
    isEmail ? email === given.trim().toLowerCase() : slug === given || (tail !== undefined && id.endsWith(tail))
  const found: Item[] = []
  for (let page = 1, hasMore = true; hasMore && page <= PAGES; page++) {
    const answer = await ask({ ...of, page, limit: PAGE, ...(isEmail && { email: given }) })
    const items = (Array.isArray(answer) ? answer : Object.values(answer).find(Array.isArray)) as readonly Item[]
    found.push(...items.filter(fits))
    hasMore = !Array.isArray(answer) && (answer as Page).pagination?.hasMore === true
  }
  if (found.length > 1)
    throw new UsageError(`${plain(given)} may be any of ${found.map(({ id }) => id).join(', ')}. Give more of its end.`)
  if (isEmail && found.length === 0)
    throw new Fault(`No account has the email ${plain(given)}`, { code: exitCodes.failed, status: 404 })
  return found[0]?.id
}
