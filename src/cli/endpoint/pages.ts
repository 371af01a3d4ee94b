/** Follows the pages of a list. */
import { limits } from '../../api/limits.ts'
import type { Pagination } from '../../client/client.ts'
import { UsageError } from '../../settings/config.ts'
import type { Ui } from '../output/ui.ts'

/** A list shows its first 10,000 entries, so this many pages of the largest size are all that there are. Source: A-222. */
const MOST_PAGES = 100

interface ListBody {
  success: boolean
  data?: { pagination?: Pagination } & Record<string, unknown>
}

/** Resolves to the first response with the entries of all pages, or to the first refusal. */
export async function allPages(path: string, send: (path: string) => Promise<Response>, notes: Ui): Promise<Response> {
  const first = await send(pageOf(path, 1))
  if (!first.ok) return first
  const whole = (await first.json()) as ListBody
  const key = Object.keys(whole.data ?? {}).find(name => Array.isArray(whole.data?.[name]))
  const { pagination } = whole.data ?? {}
  if (!pagination || key === undefined)
    throw new UsageError('--paginate follows the pages of a list, and this is none.')
  const items = [...(whole.data![key] as unknown[])]
  let hasMore = pagination.hasMore
  for (let page = 2; hasMore && page <= MOST_PAGES; page++) {
    const reply = await send(pageOf(path, page))
    if (!reply.ok) return reply
    const { data } = (await reply.json()) as ListBody
    items.push(...(data![key] as unknown[]))
    hasMore = data!.pagination!.hasMore
  }
  if (hasMore) notes.line(`There is more than ${MOST_PAGES} pages; these are the first.`)
  const all = { ...pagination, page: 1, limit: items.length, totalPages: 1, hasMore }
  const body = { ...whole, data: { ...whole.data, [key]: items, pagination: all } }
  return new Response(JSON.stringify(body), {
    status: first.status,
    statusText: first.statusText,
    headers: first.headers,
  })
}

/** Asks for as many entries a page as there may be, unless the path says how many. */
function pageOf(path: string, page: number): string {
  const [base = '', text = ''] = path.split('?', 2)
  const query = new URLSearchParams(text)
  query.set('page', String(page))
  if (!query.has('limit')) query.set('limit', String(limits.page.max))
  return `${base}?${query}`
}
