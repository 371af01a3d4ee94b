/** A fresh database on the engine that the test run asks for. */
import pg from 'pg'
import type { Db } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { emptyDatabase } from '../../src/store/embedded/initial-image.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'

/** Which engine `openTestMarketplace` opens: `postgres` when TEST_ENGINE says so. */
export const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'embedded'

/** Whether that is a Postgres that refuses what narrow-postgres.ts names. */
export const isNarrow = process.env.TEST_NARROW === 'on'

let count = 0

/** Orders text as English does, not byte by byte, as databases often do. */
const ENGLISH = `TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'`

/** Made once for all tests: with its tables, so that a copy is quicker than migrating. */
const TEMPLATE = process.env.TEST_TEMPLATE

/** Makes the template on a server; `drop` when all tests have ended. */
export async function makeTemplate(server: string): Promise<{ name: string; drop(): Promise<void> }> {
  const name = `test_template_${process.pid}`
  await administer(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const db = await openPostgres({ url: url.href, warn: () => {} })
  await migrate(db, migrations, Date.now)
  await db.close()
  return { name, drop: () => administer(server, `DROP DATABASE ${name}`) }
}

/**
 * Makes a database on the server of TEST_DATABASE_URL. Dropped by `drop`. `english`: with a collation that nothing of
 * ours may depend on, where the server has it. `migrated`: with its tables, if there is a template.
 */
export async function freshDatabase({
  english = false,
  migrated = false,
} = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.TEST_DATABASE_URL
  if (!server) throw new Error('TEST_DATABASE_URL is not set: run the tests by `npm test`, which starts a Postgres')
  const name = `test_${process.pid}_${count++}`
  const make = (how: string) => administer(server, `CREATE DATABASE ${name} ${how}`)
  // Copied as files, and not page by page into the log: a database costs 19 ms of CPU, 35 with its end.
  const plain = migrated && TEMPLATE ? `TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY` : ''
  await (english ? make(ENGLISH).catch(() => make('')) : make(plain))
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

/** A database with its tables, on the engine of this run: in memory, or dropped when it is closed. */
export async function openDatabase(now: () => number): Promise<Db> {
  const onFatal = (error: Error) => {
    throw error
  }
  if (engine === 'embedded') {
    const db = await openSqlite({ file: null, image: await emptyDatabase(), onFatal })
    await migrate(db, migrations, now)
    return db
  }
  const { url, drop } = await freshDatabase({ migrated: true })
  const db = await openPostgres({ url, warn: () => {} })
  await migrate(db, migrations, now)
  const close = db.close.bind(db)
  db.close = () => close().then(drop)
  return db
}

/** One connection to each server for all databases of this process: each has cost 20 ms of CPU to make and to drop, 39 with two of its own. */
const administrators = new Map<string, pg.Pool>()

async function administer(server: string, sql: string): Promise<void> {
  let pool = administrators.get(server)
  if (!pool) {
    pool = new pg.Pool({ connectionString: server, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
    // A server that was away is connected to again.
    pool.on('error', () => {})
    administrators.set(server, pool)
  }
  await pool.query(sql)
}
