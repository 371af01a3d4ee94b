// engines: embedded; process: own
/** A copy has every row of every table, however many there are, and nothing is copied onto what has rows. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyAll, leftBehind, tables } from '../../src/store/copy.ts'
import type { Db, Tx } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { sameNames } from '../support/same-names.ts'
import { unexpected } from './folder.ts'
import { neighbours } from './neighbours.ts'
import { contentsOf, insert, openTables } from './row-effects.ts'
import { parentsOf, tables as rules } from './table-rules.ts'

const opened = async () => {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, migrations, () => 0)
  return db
}

const namesIn = (db: Db) =>
  db.read(async q =>
    (await q.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)).map(
      ({ name }) => name,
    ),
  )

const LEFT = new Set<string>(leftBehind)
const copied = async (db: Db) =>
  [...(await db.read(contentsOf))].filter(([key]) => !LEFT.has(key.split(' ')[0]!)).sort(([a], [b]) => (a < b ? -1 : 1))
const nothing = async () => {}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'it was not refused',
    error => error.message,
  )

/** So many rows that they go in several pages, and several statements a page, by keys of one column and of two. */
async function addMany(tx: Tx) {
  const template = neighbours.find(([table, row]) => table === 'tasks' && row.id === 't1')![1]
  for (let i = 0; i < 450; i++) {
    const id = String(i).padStart(3, '0')
    await insert(tx, 'tasks', { ...template, id: `u${id}` })
    await insert(tx, 'recovery_codes', { user_id: i % 2 ? 'a' : 'b', code_hash: `z${id}` })
    await insert(tx, 'mails', { id: `u${id}`, kind: 'notification', about: `n${i}`, next_at: i, created_at: i })
  }
}

test('every table is copied or known to be left behind', async () => {
  const db = await opened()
  const all = (await namesIn(db)).filter(name => !/^(?:sqlite_|migrations$)/.test(name))
  sameNames([...tables, ...leftBehind], all)
  sameNames(Object.keys(rules), all, 'its rules are tried too')
  assert.equal([...leftBehind], ['agent_tests', 'file_locations', 'guesses', 'rate_windows', 'senders'])
  await db.close()
})

test('all rows arrive as they were, are counted, and can be looked at before they are kept', async () => {
  const from = await openTables()
  await from.db.write(addMany)
  const to = await opened()
  let seen = 0
  const counts = await copyAll(from.db, to, async tx => {
    seen = (await tx.get<{ count: number }>('SELECT COUNT(*) AS count FROM mails'))!.count
  })
  const rows = await copied(from.db)
  assert.equal(await copied(to), rows)
  assert.is(seen, 455)
  const expected: Record<string, number> = Object.fromEntries(tables.map(table => [table, 0]))
  for (const [key] of rows) expected[key.split(' ')[0]!]!++
  assert.equal(counts, expected)
  for (const table of tables) assert.ok(counts[table]! > 0, `there are ${table}`)
  for (const table of leftBehind) assert.equal(await to.read(q => q.all(`SELECT * FROM ${table}`)), [])
  await from.close()
  await to.close()
})

test('a target with a row in any table is refused by its name, but for those that a new one has', async () => {
  const from = await openTables()
  for (const table of tables.filter(name => name !== 'accounts' && name !== 'categories')) {
    const to = await opened()
    await to.write(async tx => {
      const needed = parentsOf(table)
      for (const parent of needed) await tx.run(`DELETE FROM ${parent}`)
      for (const name of [...needed, table]) await insert(tx, name, rules[name]!.row)
    })
    const named = [...parentsOf(table), table]
      .sort((a, b) => rank(a) - rank(b))
      .find(name => !/^(?:accounts|categories)$/.test(name))
    assert.is(
      await refusal(copyAll(from.db, to, nothing)),
      `The target is not empty: its table ${named} has rows. Name a new database.`,
    )
    await to.close()
  }
  await from.close()
})

const rank = (table: string) => (tables as readonly string[]).indexOf(table)

test('a copy that is refused at its end keeps nothing', async () => {
  const from = await openTables()
  const to = await opened()
  const before = await copied(to)
  const refused = copyAll(from.db, to, () => Promise.reject(new Error('not so')))
  assert.is(await refusal(refused), 'not so')
  assert.equal(await copied(to), before)
  await from.close()
  await to.close()
})

test.run()
