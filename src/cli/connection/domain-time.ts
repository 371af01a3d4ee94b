/** What people say of time, in the time of the marketplace. */
import type { Connection } from './connection.ts'
import { locate } from './target.ts'

/** So many ms ago, as the interface takes it. */
export const momentSince = async (connection: Connection, ms: number): Promise<string> =>
  new Date(Math.max(0, (await domainNow(connection)) - ms)).toISOString()

/** Domain time decides when something was made, and a simulator's can be ahead of this machine's. Source: A-44. */
async function domainNow({ found, transport }: Connection): Promise<number> {
  if (!found.isDev) return Date.now()
  const { key } = locate({ url: found.url, as: 'admin' }, 'admin')
  const headers = { authorization: `Bearer ${key}` }
  const { data } = await transport.ask<{ now: string }>('GET', '/api/dev/clock', { headers })
  return data ? Date.parse(data.now) : Date.now()
}
