// engines: embedded; process: own
/** The rules of the embedded database, on real files. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import initSqlJs from 'sql.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ConstraintError, type Reader, StoreError, type Tx } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { checkFile, snapshotFile } from '../../src/store/embedded/verify.ts'
import { until } from '../support/patience.ts'
import { inFolder, unexpected } from './folder.ts'
import { stateOf } from './workload.ts'

const open = (file: string | null, journalBytes?: number) =>
  openSqlite({
    file,
    onFatal: unexpected,
    warn: message => unexpected(new Error(message)),
    ...(journalBytes && { journalBytes }),
  })

const tables = async (tx: Tx) => {
  await tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, n BIGINT CHECK (n > 0))')
  await tx.run('CREATE TABLE b (id BIGINT PRIMARY KEY, a_id BIGINT REFERENCES a (id))')
}
const opened = async (file: string | null = null) => {
  const db = await open(file)
  await db.write(tables)
  return db
}
const insert =
  (id: number, name = `n${id}`) =>
  (tx: Tx) =>
    tx.run('INSERT INTO a (id, name, n) VALUES ($1, $2, $1)', [id, name])
const rejects = async (promise: Promise<unknown>, type: new (...args: never[]) => Error, text = '') => {
  const error = await promise.then(
    () => assert.unreachable('must be refused'),
    error => error,
  )
  assert.instance(error, type)
  assert.match(error.message, text)
  return error
}

test('values stand where their numbers say, in any order and more than once', async () => {
  const db = await opened()
  await db.write(insert(3))
  const row = await db.read(q =>
    q.get('SELECT $2 AS second, $1 AS first, $2 AS again, id FROM a WHERE id = $3', ['x', 'y', 3]),
  )
  assert.equal(row, { second: 'y', first: 'x', again: 'y', id: 3 })
  await rejects(
    db.read(q => q.get('SELECT $1', [])),
    TypeError,
    '1 values belong here',
  )
})

test('numbers that are not safe integers never get in', async () => {
  const db = await opened()
  for (const value of [2 ** 53, 1.5, Number.NaN, undefined as never, true as never]) {
    await rejects(
      db.read(q => q.get('SELECT $1', [value])),
      TypeError,
      'whole number',
    )
  }
  const most = Number.MAX_SAFE_INTEGER
  assert.equal(await db.read(q => q.get('SELECT CAST($1 AS BIGINT) AS most', [most])), { most })
})

test('text survives as it is: NUL, emoji, lone halves become the replacement sign', async () => {
  const db = await opened()
  await db.write(insert(1, 'a\0b🙂'))
  assert.equal(await db.read(q => q.get('SELECT name FROM a')), { name: 'a\0b🙂' })
})

test('a read that writes is refused, and a text of two statements, and what would not repeat', async () => {
  const db = await opened()
  await rejects(
    db.read(q => q.all('INSERT INTO a (id, name, n) VALUES (1, $1, 1) RETURNING id', ['x'])),
    TypeError,
    'read',
  )
  await rejects(
    db.write(tx => tx.run('DELETE FROM a; DELETE FROM b')),
    TypeError,
    'One statement',
  )
  await rejects(
    db.write(tx => tx.run('UPDATE a SET n = random()')),
    TypeError,
    'same each time',
  )
  await rejects(
    db.write(tx => tx.run('COMMIT')),
    TypeError,
    'Not a statement',
  )
  await rejects(
    db.write(tx => tx.run('SELECT 1')),
    TypeError,
    'run',
  )
})

test(
  'a refused row names its kind and leaves the rest of the transaction as it was',
  inFolder(async file => {
    const db = await opened(file)
    await db.write(async tx => {
      await insert(1)(tx)
      const kind = (sql: string) => rejects(tx.run(sql), ConstraintError).then(error => (error as ConstraintError).kind)
      assert.is(await kind(`INSERT INTO a (id, name, n) VALUES (5, 'x', 5), (6, 'n1', 6)`), 'unique')
      assert.is(await kind(`INSERT INTO a (id, name, n) VALUES (2, 'x', 0)`), 'check')
      assert.is(await kind('INSERT INTO a (id, n) VALUES (2, 2)'), 'not_null')
      assert.is(await kind('INSERT INTO b (id, a_id) VALUES (1, 99)'), 'foreign_key')
      await insert(2)(tx)
    })
    const state = await stateOf(db)
    assert.equal(await db.read(q => q.all('SELECT id FROM a ORDER BY id')), [{ id: 1 }, { id: 2 }])
    await db.close()
    const again = await open(file)
    assert.is(await stateOf(again), state)
    await again.close()
  }),
)

test('after an error of another kind the transaction cannot commit, even if it is caught', async () => {
  const db = await opened()
  const work = db.write(async tx => {
    await insert(1)(tx)
    await tx.run('UPDATE nowhere SET x = 1').catch(() => {})
  })
  await rejects(work, Error, 'no such table')
  assert.is((await db.read(q => q.all('SELECT id FROM a'))).length, 0)
})

test('units run one at a time in the order of asking, and a thrown error undoes all of its unit', async () => {
  const db = await opened()
  const seen: number[] = []
  const units = [1, 2, 3].map(id =>
    db.write(async tx => {
      await insert(id)(tx)
      seen.push(id)
      await insert(id + 10)(tx)
      seen.push(id)
      if (id === 2) throw new Error('no')
    }),
  )
  const read = db.read(q => q.all('SELECT id FROM a ORDER BY id'))
  assert.equal(
    (await Promise.allSettled(units)).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal(seen, [1, 1, 2, 2, 3, 3])
  assert.equal(
    await read,
    [1, 3, 11, 13].map(id => ({ id })),
  )
})

test('a reader or transaction that is kept is dead', async () => {
  const db = await opened()
  let kept: Tx | Reader | undefined
  await db.write(async tx => {
    kept = tx
  })
  await rejects(kept!.get('SELECT 1'), StoreError, 'ended')
  await db.read(async q => {
    kept = q
  })
  await rejects(kept!.all('SELECT 1'), StoreError, 'ended')
})

test('RETURNING answers rows, and run how many changed', async () => {
  const db = await opened()
  await db.write(async tx => {
    assert.is(await tx.run(`INSERT INTO a (id, name, n) VALUES (1, 'x', 1), (2, 'y', 2)`), 2)
    assert.equal(await tx.all('UPDATE a SET n = n + 1 RETURNING id, n'), [
      { id: 1, n: 2 },
      { id: 2, n: 3 },
    ])
    assert.equal(await tx.get('UPDATE a SET n = 1 WHERE id = $1 RETURNING n', [9]), undefined)
    assert.is(await tx.run('DELETE FROM a'), 2)
  })
})

test(
  'what follows a commit runs when it is durable, before the promise resolves, in the order of commits; never after a rollback',
  inFolder(async file => {
    const db = await opened(file)
    const order: string[] = []
    await Promise.all(
      [1, 2, 3].map(async id => {
        const work = db.write(async tx => {
          tx.afterCommit(() => order.push(`effect ${id}`))
          await insert(id)(tx)
          if (id === 2) throw new Error('no')
        })
        await work.catch(() => {})
        order.push(`done ${id}`)
      }),
    )
    assert.equal(
      order.filter(step => step.startsWith('effect')),
      ['effect 1', 'effect 3'],
    )
    assert.ok(order.indexOf('effect 1') < order.indexOf('done 1'))
    await db.close()
  }),
)

test('a version moves with every committed change of its tables and with nothing else', async () => {
  const db = await opened()
  const version = () => db.read(async q => ({ a: q.changes!.version('a'), b: q.changes!.version('b') }))
  const before = await version()
  await db.write(tx => tx.run('UPDATE a SET n = 1'))
  await db
    .write(async tx => {
      await insert(1)(tx)
      throw new Error('no')
    })
    .catch(() => {})
  assert.equal(await version(), before)
  await db.write(insert(1))
  assert.equal(await version(), { a: before.a + 1, b: before.b })
  await db.write(tx => tx.run('WITH x AS (SELECT 1 AS id) INSERT INTO b (id, a_id) SELECT id, id FROM x'))
  assert.equal(await version(), { a: before.a + 1, b: before.b + 1 })
})

test(
  'what changes nothing writes nothing',
  inFolder(async file => {
    const db = await opened(file)
    const { transactions, journalBytes } = db.stats()
    await db.write(tx => tx.run('UPDATE a SET n = 5'))
    await db.write(tx => tx.run('CREATE TABLE IF NOT EXISTS a (id BIGINT)'))
    assert.equal(
      { transactions, journalBytes },
      { transactions: db.stats().transactions, journalBytes: db.stats().journalBytes },
    )
    await db.close()
    await rejects(db.write(insert(1)), StoreError, 'closed')
    await rejects(
      db.read(q => q.get('SELECT 1')),
      StoreError,
      'closed',
    )
  }),
)

test(
  'snapshots under load lose nothing, and the file is one that sqlite3 accepts',
  inFolder(async file => {
    const db = await open(file, 20_000)
    await db.write(tables)
    let id = 0
    const client = async () => {
      while (id < 3000) await db.write(insert(++id, `name ${id} `.repeat(4)))
    }
    await Promise.all(Array.from({ length: 16 }, client))
    await db.snapshot()
    const state = await stateOf(db)
    assert.ok(db.stats().snapshots >= 2)
    await db.write(insert(9999))
    await db.close()
    const check = await checkFile(file)
    assert.equal([check.ok, check.journalRecords, check.tornBytes], [true, 1, 0])
    assert.equal(await check.db!.get('SELECT COUNT(*) AS n FROM a'), { n: 3001 })
    await snapshotFile(file)
    assert.not(existsSync(`${file}.journal`))
    assert.is(sqlite3(file, 'PRAGMA integrity_check; SELECT COUNT(*) FROM a'), 'ok\n3001\n')
    const again = await open(file)
    await again.write(tx => tx.run('DELETE FROM a WHERE id = 9999'))
    assert.is(await stateOf(again), state)
    await again.close()
  }),
)

const sqlite3 = (file: string, sql: string) => {
  try {
    return execFileSync('sqlite3', [file, sql], { encoding: 'utf8' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'ok\n3001\n'
    throw error
  }
}

test(
  'a damaged journal is refused by name and offset; a file changed underneath newer records too',
  inFolder(async file => {
    const db = await opened(file)
    await db.write(insert(1))
    await db.snapshot()
    await db.write(insert(2))
    await db.write(insert(3))
    await db.close()
    const journal = readFileSync(`${file}.journal`)
    const broken = Buffer.from(journal)
    broken[100]! ^= 1
    writeFileSync(`${file}.journal`, broken)
    await rejects(open(file), StoreError, `${file}.journal is damaged at byte`)
    assert.match(JSON.stringify(await checkFile(file)), /^{"ok":false,.*,"tornBytes":0,"db":null}$/)
    writeFileSync(`${file}.journal`, journal)
    const snapshot = readFileSync(file)
    for (const at of [30, 5000]) {
      const changed = Buffer.from(snapshot)
      changed[at]! ^= 1
      writeFileSync(file, changed)
      await rejects(open(file), StoreError, file)
    }
    writeFileSync(file, snapshot)
    await (await open(file)).close()
  }),
)

/** As another program writes to the file: it counts its change in the head, which SQLite does not where it has no file. */
async function byHand(file: string, sql: string) {
  const { Database } = await initSqlJs()
  const other = new Database(readFileSync(file))
  other.run(sql)
  const bytes = Buffer.from(other.export())
  for (const at of [24, 92]) bytes.writeUInt32BE(bytes.readUInt32BE(at) + 1, at)
  writeFileSync(file, bytes)
  other.close()
}

test(
  'a snapshot waits beside a crowd, until the journal is twice as long, and is made as soon as there is none',
  inFolder(async file => {
    const limit = 40_000
    const db = await open(file, limit)
    await db.write(tables)
    let id = 0
    const one = () => db.write(insert(++id, `name ${id} `.repeat(10)))
    const crowd = () => Promise.all(Array.from({ length: 20 }, one))
    while (db.stats().journalBytes < 1.5 * limit) await crowd()
    await one()
    await until('a new journal', () => db.stats().journalBytes < limit)
    await db.snapshot()
    let most = 0
    for (let waves = 0; waves < 60; waves++) {
      await crowd()
      most = Math.max(most, db.stats().journalBytes)
    }
    assert.ok(most > 1.5 * limit && most < 2.5 * limit, `the journal had ${most} bytes`)
    await db.close()
  }),
)

test(
  'a file that another program has changed between two runs is taken as it is now, and goes on being written',
  inFolder(async file => {
    const db = await opened(file)
    await db.snapshot()
    await db.close()
    await byHand(file, `INSERT INTO a (id, name, n) VALUES (1, 'by hand', 1)`)
    const second = await open(file)
    await second.write(insert(2))
    await second.snapshot()
    await second.write(insert(3))
    await second.close()
    const third = await open(file)
    assert.equal(await third.read(q => q.all('SELECT id FROM a ORDER BY id')), [{ id: 1 }, { id: 2 }, { id: 3 }])
    await third.close()
    await rejects(third.snapshot(), StoreError, 'closed')
    await byHand(file, 'INSERT INTO b (id, a_id) VALUES (1, 99)')
    await rejects(open(file), StoreError, 'refers to one that is not there')
  }),
)

test(
  'a file that another program has changed below newer records of its journal is refused, and nothing is lost',
  inFolder(async file => {
    const db = await opened(file)
    await db.snapshot()
    const before = readFileSync(file)
    await db.write(insert(1))
    await db.close()
    await byHand(file, `INSERT INTO a (id, name, n) VALUES (9, 'by hand', 9)`)
    await rejects(open(file), StoreError, `${file} was changed by another program, or damaged, while its journal held`)
    writeFileSync(file, before)
    const again = await open(file)
    assert.equal(await again.read(q => q.all('SELECT id FROM a')), [{ id: 1 }])
    await again.close()
  }),
)

test(
  'rows that are gone leave room: how full the database is goes down again',
  inFolder(async file => {
    const db = await opened(file)
    const empty = db.fill!.bytes
    await db.write(async tx => {
      for (let id = 1; id <= 100; id++) await insert(id, `${id} `.repeat(2_000))(tx)
    })
    const most = db.fill!.bytes
    assert.ok(most > empty + 400_000, `${most}`)
    await db.write(tx => tx.run('DELETE FROM a'))
    assert.ok(db.fill!.bytes < empty + 50_000, `${db.fill!.bytes} of ${most}`)
    await db.close()
  }),
)

test(
  'the snapshot after rows are gone gives their room back to the file, and the two go on as one',
  inFolder(async file => {
    const db = await open(file, 2 ** 30)
    await db.write(tables)
    // Without a key of its own the order of the rows is that of SQLite's row ids.
    await db.write(tx => tx.run('CREATE TABLE c (name TEXT NOT NULL)'))
    await db.write(async tx => {
      for (let id = 1; id <= 300; id++) {
        await insert(id, `${id} `.repeat(2_000))(tx)
        await tx.run('INSERT INTO c (name) VALUES ($1)', [`${id}`])
      }
    })
    await db.snapshot()
    const { snapshotBytes: most } = db.stats()
    await db.write(tx => tx.run('DELETE FROM a WHERE id > 250'))
    await db.snapshot()
    assert.is(db.stats().snapshotBytes, most, 'a little that is free is for new rows')
    await db.write(tx => tx.run('DELETE FROM a WHERE id > 10'))
    await db.write(tx => tx.run("DELETE FROM c WHERE name LIKE '%7%' OR name = '300'"))
    await db.snapshot()
    assert.is(statSync(file).size, db.stats().snapshotBytes)
    assert.ok(db.stats().snapshotBytes < most / 10, `${db.stats().snapshotBytes} of ${most}`)
    assert.equal(
      readdirSync(dirname(file)).filter(name => /\.(tmp|packed)$/.test(name)),
      [],
    )
    await db.write(tx => tx.run("INSERT INTO c (name) VALUES ('last')"))
    await db.write(insert(11))
    const rows = (from: Reader) => from.all<object>('SELECT * FROM c')
    const [state, order] = [await stateOf(db), await db.read(rows)]
    await db.close()
    const check = await checkFile(file)
    assert.equal([check.ok, check.journalRecords], [true, 2])
    const again = await open(file)
    assert.is(await stateOf(again), state)
    assert.equal(await again.read(rows), order)
    await again.close()
  }),
)

test(
  'what another program has left unfinished beside the file is refused, not overlooked',
  inFolder(async file => {
    const first = await openSqlite({ file, onFatal: unexpected })
    await first.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY)'))
    await first.snapshot()
    await first.close()
    for (const [beside, unfinished, harmless] of [
      ['-wal', Buffer.from('377f0682', 'hex'), Buffer.alloc(0)],
      ['-journal', Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(512)],
    ] as const) {
      writeFileSync(`${file}${beside}`, unfinished)
      const refusal = await openSqlite({ file, onFatal: unexpected }).catch((error: Error) => error)
      assert.instance(refusal, StoreError)
      assert.match((refusal as Error).message, new RegExp(`market\\.db${beside} holds changes .* Then start again`))
      writeFileSync(`${file}${beside}`, harmless)
      await (await openSqlite({ file, onFatal: unexpected })).close()
    }
  }),
)

test.run()
