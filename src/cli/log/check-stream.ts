/** The checks of a connection test, each as it ends. Only a simulator streams its log. */
import { COMMAND_LINE } from '../../api/command-line.ts'
import type { TestReport } from '../../api/records.ts'
import { createClient } from '../../client/client.ts'
import { version } from '../../settings/config.ts'
import { locate, type Target } from '../connection/target.ts'

type Check = TestReport['checks'][number]

/** Calls `show` for each check of the agent from now on. Resolves to a function that ends it. Without the dev of this folder it does nothing. */
export async function watchChecks({ isDev, url }: Target, agentId: string, show: (check: Check) => void) {
  const stop = new AbortController()
  const { signal } = stop
  if (isDev) {
    const { key } = locate({ url, as: 'admin' }, 'admin')
    // The report has every check all the same.
    const entries = await createClient({ baseUrl: url, apiKey: key, userAgent: COMMAND_LINE + version })
      .watchEvents({}, { signal })
      .catch(() => null)
    if (entries) forward(entries, agentId, show).catch(() => {})
  }
  return () => stop.abort()
}

async function forward(entries: AsyncIterable<object>, agentId: string, show: (check: Check) => void) {
  for await (const entry of entries) {
    const found = entry as Partial<Check> & { type?: string; agentId?: string }
    if (found.type === 'check' && found.agentId === agentId) show(found as Check)
  }
}
