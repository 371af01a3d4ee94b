// engines: embedded; process: own
/** Units of work on SQLite in memory, many of them in one transaction of its own. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LostError, TooMuchError } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { Connection } from '../../src/store/embedded/sqlite-wasm.ts'
import { Engine } from '../../src/store/embedded/statements.ts'
import { Unit } from '../../src/store/embedded/unit.ts'
import { inFolder, unexpected } from './folder.ts'

const withTable = async () => {
  const engine = await Engine.open()
  const unit = new Unit(engine, true)
  await unit.run('CREATE TABLE a (id BIGINT PRIMARY KEY, text TEXT NOT NULL)')
  unit.commit()
  return engine
}

const inserting = async (engine: Engine, id: number, text = '') => {
  const unit = new Unit(engine, true)
  await unit.run('INSERT INTO a (id, text) VALUES ($1, $2)', [id, text])
  return unit
}

const ids = (engine: Engine) => engine.column('SELECT id FROM a ORDER BY id')

test('rows are read up to so many bytes, of which a text that is not ASCII takes four times its own', async () => {
  const engine = await withTable()
  for (const [id, text] of [...Array(4).fill('a'.repeat(1_200)), ...Array(4).fill('\u4e2d'.repeat(100))].entries()) {
    ;(await inserting(engine, id, text)).commit()
  }
  const fit = async (from: number, count: number, bytes: number) => {
    const unit = new Unit(engine, false)
    const read = unit.all('SELECT text FROM a WHERE id >= $1 ORDER BY id LIMIT $2', [from, count], bytes)
    const rows = await read.catch(error => error)
    return rows instanceof TooMuchError ? -rows.fit : rows.length
  }
  for (const from of [0, 4]) {
    assert.equal([await fit(from, 4, 2_500), await fit(from, 4, 4_800), await fit(from, 1, 10)], [-2, 4, 1])
  }
})

const givingUp = (which: string, isGivenUp: (id: number) => boolean) =>
  test(`of 400 units ${which} is given up: the others stay, in every look at them between`, async () => {
    const engine = await withTable()
    const kept: number[] = []
    for (let id = 1; id <= 400; id++) {
      const unit = await inserting(engine, id)
      await unit.run('UPDATE a SET text = text || $1 WHERE id > $2 - 3', [`+${id}`, id])
      if (isGivenUp(id)) unit.rollback()
      else {
        unit.commit()
        kept.push(id)
      }
      const [count] = await new Unit(engine, false).all<{ n: number }>('SELECT COUNT(*) AS n FROM a')
      assert.is(count!.n, kept.length)
      if (id % 50 === 0) assert.equal(texts(engine), textsOf(kept))
    }
    const copy = await Engine.open(engine.bytes())
    assert.equal(texts(copy), textsOf(kept))
    for (const open of [engine, copy]) open.close()
  })

const texts = (engine: Engine) => engine.column(`SELECT id || text FROM a ORDER BY id`)

/** Each unit wrote its own number behind the rows that lie less than three before it. */
const textsOf = (kept: readonly number[]) =>
  kept.map(id => [id, id, id + 1, id + 2].filter((by, at) => at === 0 || kept.includes(by)).join('+'))

givingUp('every third', id => id % 3 === 0)
givingUp('now and then one', id => id % 97 === 0)
givingUp('one soon after another', id => id === 200 || id === 262 || id === 270 || id === 335)

test('a unit that made a table is given up after others: the table is gone, and they stay', async () => {
  const engine = await withTable()
  for (let id = 1; id <= 5; id++) (await inserting(engine, id)).commit()
  const unit = new Unit(engine, true)
  await unit.run('CREATE TABLE b (id BIGINT PRIMARY KEY)')
  await unit.run('INSERT INTO b (id) VALUES ($1)', [1])
  unit.rollback()
  assert.equal(engine.column('SELECT name FROM sqlite_schema ORDER BY name'), ['a'])
  assert.equal(ids(engine), [1, 2, 3, 4, 5])
  engine.close()
})

test('a unit that added a column is given up: whoever asks for all columns gets those that are left', async () => {
  const engine = await withTable()
  const all = () => new Unit(engine, false).all('SELECT * FROM a')
  ;(await inserting(engine, 1)).commit()
  // The first is given up with the transaction, the second by its savepoint.
  for (const _ of [1, 2]) {
    const unit = new Unit(engine, true)
    await unit.run('ALTER TABLE a ADD COLUMN note TEXT')
    assert.equal(await all(), [{ id: 1, text: '', note: null }])
    unit.rollback()
    assert.equal(await all(), [{ id: 1, text: '' }])
  }
  engine.close()
})

test('what goes through memory comes out as it was: numbers to 2^53, texts of any length and script, null', async () => {
  const engine = await Engine.open()
  const unit = new Unit(engine, true)
  await unit.run('CREATE TABLE a (id BIGINT PRIMARY KEY, one TEXT, two TEXT)')
  const rows = [
    { id: 0, one: '', two: null },
    { id: -1, one: 'ä€𝄞', two: 'a' },
    { id: 2 ** 31, one: 'x'.repeat(300_000), two: '\u{10ffff}'.repeat(40_000) },
    { id: -(2 ** 31) - 1, one: 'a\0b', two: '\n"\'' },
    { id: Number.MAX_SAFE_INTEGER, one: null, two: 'ü'.repeat(65_536) },
    { id: Number.MIN_SAFE_INTEGER, one: '$1', two: '?' },
  ]
  for (const { id, one, two } of rows) {
    await unit.run('INSERT INTO a (id, one, two) VALUES ($1, $2, $3)', [id, one, two])
    const found = await unit.get<object>('SELECT id, one, two FROM a WHERE id = $1 AND one IS NOT DISTINCT FROM $2', [
      id,
      one,
    ])
    assert.equal(found, { id, one, two })
  }
  unit.commit()
  const copy = await Engine.open(engine.bytes())
  assert.equal(
    await new Unit(copy, false).all('SELECT id, one, two FROM a ORDER BY id'),
    [...rows].sort((a, b) => a.id - b.id),
  )
  for (const open of [engine, copy]) open.close()
})

test('a write of which only the first row is asked for changes all, and counts them', async () => {
  const engine = await withTable()
  for (let id = 1; id <= 3; id++) (await inserting(engine, id)).commit()
  const unit = new Unit(engine, true)
  assert.equal(await unit.get("UPDATE a SET text = 'new' WHERE id < $1 RETURNING text", [3]), { text: 'new' })
  assert.equal(
    unit.effects.map(({ changed }) => changed),
    [2],
  )
  unit.commit()
  assert.equal(engine.column('SELECT text FROM a ORDER BY id'), ['new', 'new', ''])
  engine.close()
})

test('when SQLite gives up all units at once, a write says that the database is lost', async () => {
  const engine = await withTable()
  engine.column('PRAGMA max_page_count = 40')
  let refused: Unit | undefined
  for (let id = 1; !refused; id++) {
    const unit = new Unit(engine, true)
    const done = await unit.run('INSERT INTO a (id, text) VALUES ($1, $2)', [id, 'x'.repeat(3000)]).catch(() => false)
    if (done === false) refused = unit
    else unit.commit()
  }
  refused.rollback()
  assert.instance(refused.lost, LostError)
  engine.close()
})

test('a thousand prepared statements are kept, and each is freed once: one too many, one of the schema, all at the end', async () => {
  const { prepare } = Connection.prototype
  const freed: string[] = []
  let prepared = 0
  Connection.prototype.prepare = function (this: Connection, sql: string) {
    const statement = prepare.call(this, sql)
    const free = statement.free.bind(statement)
    statement.free = () => {
      freed.push(sql)
      free()
    }
    prepared++
    return statement
  }
  try {
    const engine = await withTable()
    const own = prepared - 1
    assert.is(freed.length, 1, 'the one that made the table')
    const unit = new Unit(engine, false)
    for (let n = 0; n < 1_500; n++) assert.equal(await unit.get(`SELECT ${n} AS n`), { n })
    assert.equal([prepared - freed.length - own, freed.at(-1)], [1_000, 'SELECT 499 AS n'])
    engine.close()
    assert.equal([freed.length, new Set(freed).size], [prepared, prepared])
  } finally {
    Connection.prototype.prepare = prepare
  }
})

test('numbers that SQLite computes from values come back as they are, beyond 32 bits as well', async () => {
  const engine = await Engine.open()
  const row = await new Unit(engine, false).get('SELECT $1 AS a, $1 + 1 AS b, COALESCE(NULL, $2) AS c', [3e9, -3e9])
  assert.equal(row, { a: 3e9, b: 3e9 + 1, c: -3e9 })
  engine.close()
})

// The last ones: the limit that this sets holds for all of this process.
test(
  'memory that runs out in a read is the end of the database, and its file has every row that was told',
  inFolder(async file => {
    const ends: string[] = []
    const db = await openSqlite({ file, onFatal: error => ends.push(error.message) })
    await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY)'))
    for (let id = 1; id <= 10; id++) await db.write(tx => tx.run('INSERT INTO a (id) VALUES ($1)', [id]))
    const limits = await Engine.open()
    limits.column('PRAGMA hard_heap_limit = 40000000')
    const greedy = db.read(q => q.all('SELECT hex(zeroblob(30000000)) AS a, id FROM a'))
    const refusal = await greedy.catch((error: Error) => error)
    assert.instance(refusal, LostError)
    assert.is(ends.length, 1)
    assert.not.ok(await db.ready())
    assert.instance(await db.write(tx => tx.run('DELETE FROM a')).catch((error: Error) => error), LostError)
    await db.close()
    const again = await openSqlite({ file, onFatal: unexpected })
    assert.equal(await again.read(q => q.get('SELECT COUNT(*) AS n FROM a')), { n: 10 })
    await again.close()
  }),
)

test(
  'closed while memory runs out, it leaves no lock behind',
  inFolder(async file => {
    const db = await openSqlite({ file, onFatal: () => {} })
    await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY)'))
    await db.write(tx => tx.run('INSERT INTO a (id) VALUES (1)'))
    const greedy = db.read(q => q.all('SELECT hex(zeroblob(30000000)) AS a, id FROM a')).catch((error: Error) => error)
    await db.close()
    assert.instance(await greedy, LostError)
    const again = await openSqlite({ file, onFatal: unexpected })
    assert.equal(await again.read(q => q.get('SELECT COUNT(*) AS n FROM a')), { n: 1 })
    await again.close()
  }),
)

test.run()
