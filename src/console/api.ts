/**
 * The project's own client, in a browser: it sends the session by its cookie. In the build its records are cut down to what a client reads of
 * them, as data; see `scripts/build/console.ts`.
 */
import { createClient, MarketplaceError } from '../client/client.ts'

/** Called with each response of 401: whoever was signed in is so no more. */
export const refused = { notSignedIn: () => {} }

/** Writes under way: a second click sends nothing, and gets the response of the first. */
const writes = new Map<string, Promise<Response>>()

function sendOnce(url: string, init: RequestInit): Promise<Response> {
  if (init.method === 'GET' || (init.body && typeof init.body !== 'string')) return fetch(url, init)
  const what = `${init.method} ${url} ${init.body}`
  const sent = writes.get(what) ?? fetch(url, init).finally(() => writes.delete(what))
  writes.set(what, sent)
  return sent.then(reply => reply.clone())
}

export const api = createClient({
  // A relative address would do for fetch, and not for messages that name it.
  baseUrl: location.origin,
  fetch: async (url, init) => {
    const reply = await sendOnce(url, init)
    if (reply.status === 401) refused.notSignedIn()
    return reply
  },
})

export const isRefusal = (error: unknown, status: number): error is MarketplaceError =>
  error instanceof MarketplaceError && error.status === status

type TasksAsked = NonNullable<Parameters<typeof api.listTasks>[0]>

/** Those of everybody, as an administrator sees them, or one's own. */
export async function listTasks(isOfAll: boolean, { role, ...asked }: TasksAsked, signal: AbortSignal) {
  if (isOfAll) return api.adminListTasks(asked, { signal })
  const { tasks: items, pagination } = await api.listTasks({ role, ...asked }, { signal })
  return { items, pagination }
}
