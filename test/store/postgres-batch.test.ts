// engines: postgres; process: own
/** What is asked together on Postgres: one answer for all, the first failure ends it, and the connection goes on. */
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BusyError, type Db, type Reader, StoreError } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { until } from '../support/patience.ts'

interface State {
  db: Db
  warnings: string[]
  url: string
  close(): Promise<void>
}

const jars = ({ db }: State) =>
  db.read(q => q.all<{ id: string; coins: number }>('SELECT id, coins FROM jars ORDER BY id'))
const take = (id: string, coins: number) => ({
  sql: 'UPDATE jars SET coins = coins - $2 WHERE id = $1 AND coins >= $2',
  values: [id, coins],
})
const give = (id: string, coins: number) => ({
  sql: 'UPDATE jars SET coins = coins + $2 WHERE id = $1',
  values: [id, coins],
})

async function failure(work: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}

const inBatches = suite<State>('postgres, in batches')
/** Batches need a part of pg that it does not need itself. */
const withoutAPart = suite<State>('postgres, by a pg without a part')
const refusingBatches = suite<State>('postgres, by a pg that takes queries of its own class alone')

inBatches('nothing is warned of', ({ warnings }) => assert.equal(warnings, []))
withoutAPart('the start warns, and says what to install', ({ warnings }) => assert.match(warnings.join(), 'pg@~8'))
refusingBatches('the start warns, and says what to install', ({ warnings }) => assert.match(warnings.join(), 'pg@~8'))

function changed<T extends object>(owner: T, name: string, value: unknown): () => void {
  const before = Reflect.get(owner, name)
  Reflect.set(owner, name, value)
  return () => void Reflect.set(owner, name, before)
}

function refuseBatches(): () => void {
  const { query } = pg.Client.prototype
  // biome-ignore lint/suspicious/noExplicitAny: it has several forms
  return changed(pg.Client.prototype, 'query', function refuse(this: pg.Client, given: any, ...rest: unknown[]) {
    if (given.constructor.name !== 'Batch') return Reflect.apply(query, this, [given, ...rest])
    process.nextTick(() => given.handleError(new Error('no batches here')))
  })
}

const ways = [
  [inBatches, () => () => {}],
  [withoutAPart, () => changed(pg.Connection.prototype as object, 'close', undefined)],
  [refusingBatches, refuseBatches],
] as const

for (const [test, breakPg] of ways) {
  let undo = () => {}

  test.before.each(async state => {
    undo = breakPg()
    const { url, drop } = await freshDatabase()
    state.url = url
    // One connection: whatever a test leaves behind on it is met by the next unit.
    state.warnings = []
    state.db = await openPostgres({ url, poolSize: 1, warn: message => state.warnings.push(message) })
    state.close = async () => {
      await state.db.close()
      await drop()
    }
    await state.db.write(async tx => {
      await tx.run('CREATE TABLE jars (id TEXT PRIMARY KEY, coins BIGINT NOT NULL CHECK (coins >= 0))')
      await tx.run(`INSERT INTO jars (id, coins) VALUES ('a', 5), ('b', 0)`)
    })
  })
  test.after.each(async ({ close }) => {
    await close()
    undo()
  })

  test('each statement gets its own rows, in the order of asking', async ({ db }) => {
    const answers = await db.read(q =>
      Promise.all([
        q.get('SELECT coins FROM jars WHERE id = $1', ['a']),
        q.all('SELECT id FROM jars WHERE coins > $1', [100]),
        q.all('SELECT id, coins FROM jars ORDER BY id DESC'),
        q.get('SELECT CAST($1 AS TEXT) AS word, CAST(NULL AS BIGINT) AS nothing', ['‽']),
      ]),
    )
    const all = [
      { id: 'b', coins: 0 },
      { id: 'a', coins: 5 },
    ]
    assert.equal(answers, [{ coins: 5 }, [], all, { word: '‽', nothing: null }])
  })

  test('the first that fails ends what was asked with it, nothing of it is kept, and the connection goes on', async state => {
    const { db } = state
    const outcomes = await failure(
      db.write(async tx => {
        const settled = await Promise.allSettled([
          tx.run(`UPDATE jars SET coins = 9 WHERE id = 'a'`),
          tx.run(`INSERT INTO jars (id, coins) VALUES ('a', 1)`),
          tx.run(`UPDATE jars SET coins = 9 WHERE id = 'b'`),
        ])
        assert.equal(
          settled.map(({ status }) => status),
          ['fulfilled', 'rejected', 'rejected'],
        )
        throw (settled[2] as PromiseRejectedResult).reason
      }),
    )
    assert.is((outcomes as unknown as { kind: string }).kind, 'unique')
    assert.equal(await jars(state), [
      { id: 'a', coins: 5 },
      { id: 'b', coins: 0 },
    ])
  })

  test('a statement that could not be prepared, or stood behind one that failed, can be asked again', async state => {
    const { db } = state
    const asked = () => db.read(q => q.get('SELECT COUNT(*) AS count FROM shelves'))
    const behind = (first: string) =>
      db.read(q => Promise.all([q.all(first), q.get('SELECT MAX(coins) AS most FROM jars')]))
    assert.is((await failure(asked())).code, '42P01')
    assert.is((await failure(behind('SELECT id FROM shelves'))).code, '42P01')
    assert.is(await db.write(tx => tx.run('CREATE TABLE shelves (id TEXT PRIMARY KEY)')), 0, 'it changes no row')
    assert.equal(await asked(), { count: 0 })
    assert.equal(await behind('SELECT id FROM shelves'), [[], { most: 5 }])
    assert.equal(await behind('SELECT id FROM shelves'), [[], { most: 5 }])
  })

  test('what the server has prepared no more, or for other columns, fails once and is then prepared anew', async state => {
    const { db, url } = state
    const asked = () => db.read(q => q.get(`SELECT * FROM jars WHERE id = 'a'`))
    assert.equal(await asked(), { id: 'a', coins: 5 })
    const other = await openPostgres({ url, poolSize: 1 })
    await other.write(tx => tx.run('ALTER TABLE jars ADD COLUMN lid TEXT'))
    await other.close()
    assert.is((await failure(asked())).code, '0A000')
    assert.equal(await asked(), { id: 'a', coins: 5, lid: null })
    assert.is((await failure(db.write(tx => tx.run('DEALLOCATE ALL')))).code, '26000')
    assert.equal(await asked(), { id: 'a', coins: 5, lid: null })
    assert.equal(await asked(), { id: 'a', coins: 5, lid: null })
  })

  test('a number that is no safe integer is refused, not rounded', async ({ db }) => {
    const error = await failure(db.read(q => q.get('SELECT CAST($1 AS BIGINT) AS big', ['9007199254740993'])))
    assert.ok(error instanceof RangeError)
    assert.equal(await db.read(q => q.get('SELECT CAST($1 AS BIGINT) AS big', ['9007199254740991'])), {
      big: Number.MAX_SAFE_INTEGER,
    })
  })

  test('writes that are expected to change something and do not: nothing is kept, and the work runs anew and is told', async state => {
    const { db } = state
    const told: boolean[][] = []
    let effects = 0
    const move = (coins: number) =>
      db.write(async tx => {
        tx.afterCommit(() => effects++)
        const answer = await tx.runAll([take('a', coins), give('b', coins)])
        told.push(answer)
        if (!answer[0]) throw new Error('too few coins')
      })
    await move(3)
    assert.is((await failure(move(3))).message, 'too few coins')
    assert.equal(told, [
      [true, true],
      [true, true],
      [false, true],
    ])
    assert.is(effects, 1)
    assert.equal(await jars(state), [
      { id: 'a', coins: 2 },
      { id: 'b', coins: 3 },
    ])
  })

  test('what is asked after a step sees what it wrote', async state => {
    await state.db.write(async tx => {
      await Promise.all([tx.runAll([take('a', 1)]), tx.runAll([give('b', 1), take('a', 1)])])
      assert.equal(await tx.get(`SELECT coins FROM jars WHERE id = 'a'`), { coins: 3 })
      await tx.runAll([give('b', 1)])
    })
    assert.equal(await jars(state), [
      { id: 'a', coins: 3 },
      { id: 'b', coins: 2 },
    ])
  })

  test('what must not be there twice is refused at the commit as it would be at once', async state => {
    const { db } = state
    const add = (id: string) => ({ sql: 'INSERT INTO jars (id, coins) VALUES ($1, 1)', values: [id] })
    const error = await failure(db.write(async tx => void (await tx.runAll([add('c'), add('a')]))))
    assert.is((error as unknown as { kind: string }).kind, 'unique')
    assert.is((await jars(state)).length, 2)
  })

  test('a read sees one state, and its end holds up nobody who comes next', async state => {
    const { db, url } = state
    const other = await openPostgres({ url, poolSize: 1 })
    const seen = await db.read(async q => {
      const before = await q.get(`SELECT coins FROM jars WHERE id = 'a'`)
      await other.write(tx => tx.run(`UPDATE jars SET coins = 7 WHERE id = 'a'`))
      return [before, await q.get(`SELECT coins FROM jars WHERE id = 'a'`)]
    })
    assert.equal(seen, [{ coins: 5 }, { coins: 5 }])
    await other.write(tx => tx.run('ALTER TABLE jars ADD COLUMN lid TEXT'))
    assert.equal(await db.read(q => q.get(`SELECT coins, lid FROM jars WHERE id = 'a'`)), { coins: 7, lid: null })
    await other.close()
  })

  test('a commit is waited for as long as what goes before it may take, each within its limit', async ({ url }) => {
    const statementTimeoutMs = 2_500
    const db = await openPostgres({ url, poolSize: 1, statementTimeoutMs })
    const slow = (id: string) => ({
      sql: 'INSERT INTO jars (id, coins) SELECT $1, 1 FROM pg_sleep(0.9)',
      values: [id],
    })
    // Together they take longer than the server may be silent about one.
    await db.write(tx => Promise.all(['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'].map(id => tx.runAll([slow(id)]))))
    assert.equal(await db.read(q => q.get('SELECT COUNT(*) AS count FROM jars')), { count: 11 })
    await db.close()
  })

  test('glances of one moment share a connection, and one that fails fails alone', async ({ db }) => {
    const coins = (id: string) =>
      db.readCommitted(q =>
        Promise.all([q.get('SELECT coins FROM jars WHERE id = $1', [id]), q.get('SELECT pg_backend_pid() AS pid')]),
      )
    const astray = db.readCommitted(q => q.get('SELECT coins FROM shelves'))
    const all = await Promise.all([coins('a'), failure(astray), coins('b'), coins('c')])
    assert.is(all[1].code, '42P01')
    const pid = (all[0] as [unknown, { pid: number }])[1]
    assert.equal(
      [all[0], all[2], all[3]],
      [
        [{ coins: 5 }, pid],
        [{ coins: 0 }, pid],
        [undefined, pid],
      ],
    )
    const many = await Promise.all(Array.from({ length: 300 }, (_, i) => coins(i % 2 ? 'a' : 'b')))
    assert.equal(
      many.map(([row]) => (row as { coins: number }).coins),
      Array.from({ length: 300 }, (_, i) => (i % 2 ? 5 : 0)),
    )
    for (const [, answer] of many) assert.equal(answer, pid, 'a read that failed leaves the connection in use')
  })

  test('a committed read sees what was committed before it, also behind a read on the same connection, and may ask again', async ({
    db,
    url,
  }) => {
    const other = await openPostgres({ url, poolSize: 1 })
    const sum = (q: Reader) => q.get<{ sum: number }>('SELECT CAST(SUM(coins) AS BIGINT) AS sum FROM jars')
    assert.equal(await db.read(sum), { sum: 5 })
    await other.write(tx => tx.run('UPDATE jars SET coins = coins + 1'))
    const seen = await db.readCommitted(async q => {
      const before = await sum(q)
      await other.write(tx => tx.run('UPDATE jars SET coins = coins + 1'))
      return [before, await sum(q)]
    })
    assert.equal(seen, [{ sum: 7 }, { sum: 9 }])
    await other.close()
  })

  test('a committed read whose connection breaks at each try is told so, and the next one has another', async ({
    db,
    url,
  }) => {
    const other = await openPostgres({ url, poolSize: 1 })
    const slow = failure(db.readCommitted(q => q.get('SELECT pg_sleep(10)')))
    const ended = async () => {
      const sql = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE query LIKE '%sleep(10)%' AND pid <> pg_backend_pid()`
      return (await other.read(q => q.all(sql))).length > 0
    }
    let isOver = false
    void slow.then(() => {
      isOver = true
    })
    await until('an end', async () => {
      await ended()
      return isOver
    })
    assert.ok((await slow) instanceof StoreError)
    assert.equal(await db.readCommitted(q => q.get('SELECT 1 AS one')), { one: 1 })
    await other.close()
    await db.close()
    assert.ok((await failure(db.readCommitted(q => q.get('SELECT 1 AS one')))) instanceof StoreError)
  })

  test('without prepared statements all is the same, and each statement has its limit', async ({ url }) => {
    const db = await openPostgres({ url, poolSize: 1, prepare: false, statementTimeoutMs: 1_000 })
    assert.equal(await db.read(q => Promise.all([q.get('SELECT 1 AS one'), q.get('SELECT 2 AS two')])), [
      { one: 1 },
      { two: 2 },
    ])
    assert.ok((await failure(db.read(q => q.get('SELECT pg_sleep(5)')))) instanceof BusyError)
    await db.write(tx => tx.run('UPDATE jars SET coins = coins + $1', [1]))
    assert.equal(await db.read(q => q.all('SELECT coins FROM jars ORDER BY id')), [{ coins: 6 }, { coins: 1 }])
    await db.close()
  })
}

inBatches.run()
withoutAPart.run()
refusingBatches.run()
