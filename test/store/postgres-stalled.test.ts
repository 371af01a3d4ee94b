// engines: postgres; process: own
/** A unit that stands still, or whose connection says nothing any more, keeps nobody waiting, and does nothing twice. */
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Db, StoreError } from '../../src/store/db.ts'
import { openPostgres, type PostgresOptions } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { inTime } from '../support/patience.ts'
import { closeOpened, opened } from '../support/servers.ts'
import { startSilentProxy } from '../support/silent-proxy.ts'

test.after.each(closeOpened)

const open = (options: PostgresOptions) => openPostgres(options).then(db => opened(db))

/** A row that everybody wants to change. */
async function openRow() {
  const { url, drop } = await freshDatabase()
  await opened({ close: drop })
  const db = await open({ url })
  await db.migrate(async tx => {
    await tx.run('CREATE TABLE rows (id TEXT PRIMARY KEY, count BIGINT NOT NULL)')
    await tx.run(`INSERT INTO rows (id, count) VALUES ('a', 0)`)
  })
  const count = async () => (await db.read(q => q.get<{ count: number }>('SELECT count FROM rows')))!.count
  return { url, db, count }
}

const add = (db: Db) => db.write(tx => tx.run(`UPDATE rows SET count = count + 1 WHERE id = 'a'`))

/** A unit that has changed the row and does not go on until it is told to. */
function stalled(db: Db) {
  let [reached, goOn] = [() => {}, () => {}]
  const isHeld = new Promise<void>(resolve => {
    reached = resolve
  })
  const isOver = new Promise<void>(resolve => {
    goOn = resolve
  })
  // Else a database that is closed after a failure would wait for it.
  void opened({ close: () => goOn() })
  let runs = 0
  const ended = db.write(async tx => {
    runs++
    await tx.run(`UPDATE rows SET count = count + 1 WHERE id = 'a'`)
    reached()
    await isOver
    return tx.get('SELECT 1 AS one')
  })
  ended.catch(() => {})
  return { isHeld, goOn, ended, runs: () => runs }
}

test('others get the row of a unit that stands still; once it goes on it begins anew, and counts once', async () => {
  const { url, db, count } = await openRow()
  const still = stalled(await open({ url }))
  await still.isHeld
  await inTime('the row', add(db))
  assert.is(await count(), 1)
  still.goOn()
  assert.equal(await still.ended, { one: 1 })
  assert.equal([still.runs(), await count()], [2, 2])
})

for (const prepare of [undefined, false]) {
  const how = prepare === false ? 'behind a pooler' : 'at the server'
  test(`others get the row of a connection that says nothing any more, ${how}; what it asks then is not done`, async () => {
    const { url, db, count } = await openRow()
    const proxy = await opened(await startSilentProxy(url))
    const still = stalled(await open({ url: proxy.url, statementTimeoutMs: 1_000, prepare }))
    await still.isHeld
    proxy.fallSilent()
    still.goOn()
    await inTime('the row', add(db))
    const error = await inTime(
      'an end',
      still.ended.catch(error => error),
    )
    assert.instance(error, StoreError)
    assert.equal([still.runs(), await count()], [1, 1])
    proxy.speak()
    assert.is(await count(), 1)
  })
}

test('a unit whose connection is ended before its commit runs again on another', async () => {
  const { url, db, count } = await openRow()
  const other = new pg.Client(url)
  await other.connect()
  let runs = 0
  await db.write(async tx => {
    await tx.run(`UPDATE rows SET count = count + 1 WHERE id = 'a'`)
    const { pid } = (await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!
    if (++runs === 1) await other.query('SELECT pg_terminate_backend($1, 60000)', [pid])
    await tx.run(`UPDATE rows SET count = count + 1 WHERE id = 'a'`)
  })
  await other.end()
  assert.equal([runs, await count()], [2, 2])
})

test('a read whose connection is ended runs again on another', async () => {
  const { url, db } = await openRow()
  const other = new pg.Client(url)
  await other.connect()
  let runs = 0
  const read = await db.read(async q => {
    const { pid } = (await q.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!
    if (++runs === 1) await other.query('SELECT pg_terminate_backend($1, 60000)', [pid])
    return q.get('SELECT count FROM rows')
  })
  await other.end()
  assert.equal([runs, read], [2, { count: 0 }])
})

test.run()
