/** What is private to undici and used here. Tried with undici 7.30.2; the table in docs/architecture.md says what happens without it. */
import type { Pool } from 'undici'

const POOL_ALONE = 'undici/lib/dispatcher/pool.js'

/** Returns the class of pools. Loading undici takes 160 ms, its pool alone only 35. Without that file the whole package is loaded. */
export async function loadPool(path: string = POOL_ALONE): Promise<typeof Pool> {
  return import(path).then(
    module => module.default,
    async () => (await import('undici')).Pool,
  )
}

// undici documents the codes. Unexpected 100 and 101 responses have none, only these messages.
const MALFORMED = /^HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|bad response|bad upgrade/

/** Whether a response was not proper HTTP, or its headers were too large. */
export const isMalformed = ({ code, name, message }: Error & { code?: string }) =>
  MALFORMED.test(`${code} ${name} ${message}`)
