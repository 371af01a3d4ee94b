// engines: postgres; process: shared
/** What the server does by itself with a session of ours that stands still, waits or is gone: the limits are there where a unit runs. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BusyError, type Db, type Reader } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { inTime, until } from '../support/patience.ts'
import { closeOpened, opened } from '../support/servers.ts'
import { startSilentProxy } from '../support/silent-proxy.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'

test.after.each(closeOpened)

/** In ms: for how long a statement, a lock and a silent client are waited for. */
const OF_UNITS = {
  statement_timeout: '7000',
  lock_timeout: '1200',
  idle_in_transaction_session_timeout: '2500',
}
/** In ms, and in seconds: when a connection ends whose client takes nothing, or is gone. */
const OF_SOCKETS = {
  tcp_user_timeout: '10000',
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
}

async function open({ isPooled = false } = {}): Promise<Db> {
  const { url, drop } = await freshDatabase()
  await opened({ close: drop })
  const way = isPooled ? (await opened(await startTransactionPooler(url))).url : url
  return opened(await openPostgres({ url: way, poolSize: 2, statementTimeoutMs: 7_000 }))
}

/** As the server itself has them: in the units of each. */
const settingsIn = async (q: Reader, names: object) => {
  const rows = await q.all<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings WHERE name IN (${Object.keys(names).map(name => `'${name}'`)})`,
  )
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

test('each session has its limits, and the sockets of the server theirs', async () => {
  const db = await open()
  const all = { ...OF_UNITS, ...OF_SOCKETS }
  for (const unit of ['read', 'write'] as const)
    assert.equal(await db[unit]((q: Reader) => settingsIn(q, all)), all, unit)
  assert.equal(await db.readCommitted(q => settingsIn(q, all)), all)
})

test('behind a pooler each transaction has its limits, also where another has used the process meanwhile', async () => {
  const db = await open({ isPooled: true })
  for (const unit of ['read', 'write', 'read'] as const)
    assert.equal(await db[unit]((q: Reader) => settingsIn(q, OF_UNITS)), OF_UNITS, unit)
})

test('a migration may take its time, between its statements a minute, and leaves nothing of that behind', async () => {
  const db = await open()
  const idle = { idle_in_transaction_session_timeout: '60000' }
  assert.equal(await db.migrate(tx => settingsIn(tx, idle)), idle)
  assert.equal(await db.write(tx => settingsIn(tx, OF_UNITS)), OF_UNITS)
})

test('who waits for a lock in vain is refused as one that waited, long before its client would give up', async () => {
  const db = await open()
  await db.migrate(tx => tx.run('CREATE TABLE rows (id TEXT PRIMARY KEY)'))
  await db.write(tx => tx.run(`INSERT INTO rows (id) VALUES ('a')`))
  let tries = 0
  const error = await db.write(async tx => {
    await tx.run(`UPDATE rows SET id = 'a'`)
    const other = db.write(async one => {
      tries++
      await one.run(`SET LOCAL lock_timeout = 50`)
      await one.run(`UPDATE rows SET id = 'a'`)
    })
    return inTime(
      'a refusal',
      other.catch(error => error),
    )
  })
  assert.instance(error, BusyError)
  assert.is(tries, 10)
})

test('who is in line for a row gives up before the one that holds it and stands still: each would hold it as long', async () => {
  const { url, drop } = await freshDatabase()
  await opened({ close: drop })
  const proxy = await opened(await startSilentProxy(url))
  const gone = await opened(await openPostgres({ url: proxy.url, poolSize: 4 }))
  const well = await opened(await openPostgres({ url, poolSize: 2 }))
  await well.migrate(tx => tx.run('CREATE TABLE rows (id TEXT PRIMARY KEY, count INTEGER)'))
  await well.write(tx => tx.run(`INSERT INTO rows (id, count) VALUES ('a', 0)`))
  const add = (db: Db) =>
    db.write(async tx => {
      // Its answer is waited for, so that it does not go together with the COMMIT.
      await tx.get(`SELECT id FROM rows WHERE id = 'a' FOR UPDATE`)
      await tx.run(`UPDATE rows SET count = count + 1 WHERE id = 'a'`)
    })
  const line: Promise<unknown>[] = []
  await well.write(async tx => {
    await tx.run(`UPDATE rows SET count = 1 WHERE id = 'a'`)
    line.push(...Array.from({ length: 3 }, () => add(gone)))
    await until('the line', async () => (await those(well, WAITS)).length === line.length)
    proxy.fallSilent()
  })
  try {
    await until('the row in a hand', async () => (await those(well, HOLDS)).length > 0)
    const [first] = await those(well, HOLDS)
    await until('no line', async () => (await those(well, WAITS)).length === 0)
    assert.equal(await those(well, HOLDS), [first])
    await add(well)
  } finally {
    proxy.speak()
    await Promise.all(line)
  }
  const { count } = (await well.read(q => q.get<{ count: number }>('SELECT count FROM rows')))!
  assert.is(count, 2 + line.length)
})

const WAITS = `wait_event_type = 'Lock'`
const HOLDS = `state = 'idle in transaction' AND backend_xid IS NOT NULL`

const those = async (db: Db, which: string) => {
  const sql = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND ${which}`
  return (await db.read(q => q.all<{ pid: number }>(sql))).map(({ pid }) => pid)
}

test.run()
