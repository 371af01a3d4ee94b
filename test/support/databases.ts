/** A fresh database on the engine that the test run asks for. */
import pg from 'pg'

/** Which engine `openHouse` opens: `postgres` when TEST_ENGINE says so. */
export const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'

let count = 0

/** Orders text as English does, not byte by byte, as databases often do. */
const ENGLISH = `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'`

/**
 * Makes a database on the server of TEST_DATABASE_URL. Dropped by `drop`. `english`: with a collation that nothing of
 * ours may depend on, where the server has it.
 */
export async function freshDatabase({ english = false } = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.TEST_DATABASE_URL
  if (!server) throw new Error('TEST_DATABASE_URL is not set: run the tests by `npm test`, which starts a Postgres')
  const name = `test_${process.pid}_${count++}`
  const make = (how: string) => administer(server, `CREATE DATABASE ${name} ${how}`)
  await (english ? make(ENGLISH).catch(() => make('')) : make(''))
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function administer(server: string, sql: string): Promise<void> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
