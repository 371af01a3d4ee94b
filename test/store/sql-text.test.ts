// engines: embedded; process: shared
/** What is known of a statement before it runs, by its text alone. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSqlText, sqliteSchema } from '../../src/store/embedded/sql-text.ts'
import { apart, joinedText, notAll, postgresText } from '../../src/store/postgres/sql-text.ts'
import { beginsWith } from '../../src/store/tables/agents/search-words.ts'

const kindOf = (sql: string) => readSqlText(sql).kind
const tableOf = (sql: string) => readSqlText(sql).table
const rowOf = (sql: string) => readSqlText(sql).row
const isRefused = (sql: string, why: RegExp) => assert.throws(() => readSqlText(sql), why, sql)

test('a statement reads, writes or makes tables, whatever its case and whatever stands before it', () => {
  assert.is(kindOf('SELECT 1'), 'read')
  assert.is(kindOf('  select 1;'), 'read')
  assert.is(kindOf('-- why\nSELECT 1'), 'read')
  assert.is(kindOf('/* why\n */ SELECT 1 -- end'), 'read')
  assert.is(kindOf('WITH a AS (SELECT 1) SELECT * FROM a'), 'read')
  assert.is(kindOf('WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a'), 'write')
  assert.is(kindOf('with a as (select 1) delete from b'), 'write')
  for (const verb of ['INSERT INTO a VALUES (1)', 'replace into a values (1)', 'UPDATE a SET b = 1', 'Delete from a'])
    assert.is(kindOf(verb), 'write', verb)
  for (const verb of ['CREATE TABLE a (b)', 'drop table a', 'ALTER TABLE a ADD COLUMN b TEXT'])
    assert.is(kindOf(verb), 'schema', verb)
  for (const other of ['', '   ', '-- SELECT 1', 'PRAGMA a', 'BEGIN', 'WITH a', 'VACUUM', '(SELECT 1)', "'SELECT 1'"])
    isRefused(other, /Not a statement for this database/)
})

test('one statement at a time: nothing follows its semicolon but a comment', () => {
  assert.is(kindOf('SELECT 1; -- a'), 'read')
  assert.is(kindOf(`SELECT ';' AS a`), 'read')
  assert.is(kindOf('SELECT 1 AS ";"'), 'read')
  isRefused('SELECT 1; SELECT 2', /One statement at a time/)
  isRefused(`SELECT 1; 'a'`, /One statement at a time/)
  isRefused('SELECT 1;;', /One statement at a time/)
})

test('values stand as $n: each is bound where it comes first, and a text asks for the greatest', () => {
  assert.equal(readSqlText('SELECT $2, $1, $2, $10').parameters, [2, 1, 10])
  assert.is(readSqlText('SELECT $2, $1, $2, $10').valueCount, 10)
  assert.equal(readSqlText(`SELECT '$1', "$2", $3 -- $4\n /* $5 */`).parameters, [3])
  assert.is(readSqlText('SELECT 1').valueCount, 0)
  for (const other of ['?', ':a', '@a', '?1']) isRefused(`SELECT ${other}`, /Values stand as \$1/)
  assert.is(kindOf(`SELECT '?', ':a'`), 'read')
})

test('what would not do the same again is no write, and may be read', () => {
  const unrepeatable = [
    'random()',
    'RANDOMBLOB (4)',
    `strftime('%s', $1)`,
    'date($1)',
    'time($1)',
    'datetime($1)',
    'julianday($1)',
    'unixepoch($1)',
    `max('now', $1)`,
    'current_time',
    'CURRENT_DATE',
    'current_timestamp',
    'last_insert_rowid()',
    'changes()',
    'total_changes()',
  ]
  for (const word of unrepeatable) {
    isRefused(`INSERT INTO a (b) VALUES (${word})`, /must do the same each time/)
    isRefused(`CREATE TABLE a (b DEFAULT (${word}))`, /must do the same each time/)
    assert.is(kindOf(`SELECT ${word}`), 'read')
  }
  for (const how of [
    'INSERT OR FAIL INTO a VALUES (1)',
    'UPDATE OR ROLLBACK a SET b = 1',
    'update a set b = 1 or\nrollback',
  ])
    isRefused(how, /the same/)
  isRefused('CREATE TABLE a (b UNIQUE ON CONFLICT FAIL)', /the same/)
  assert.is(kindOf('INSERT OR IGNORE INTO a VALUES (1)'), 'write')
  assert.is(kindOf('UPDATE a SET randomness = 1, updated = 2'), 'write')
})

test('a write names its table', () => {
  assert.is(tableOf('INSERT INTO a (b) VALUES (1)'), 'a')
  assert.is(tableOf('INSERT OR REPLACE INTO "A b" (b) VALUES (1)'), 'a b')
  assert.is(tableOf('UPDATE OR IGNORE Jars SET b = 1'), 'jars')
  assert.is(tableOf('DELETE FROM a WHERE b IN (SELECT c FROM d)'), 'a')
  assert.is(tableOf('WITH x AS (SELECT 1) UPDATE a SET b = 1'), 'a')
  assert.is(tableOf('REPLACE INTO a VALUES (1)'), 'a')
  assert.is(tableOf('SELECT * FROM a'), null)
  assert.is(tableOf('CREATE TABLE a (b)'), null)
})

test('a write tells the one row that it can change, by its id alone, where nothing else could be meant', () => {
  assert.is(rowOf('INSERT INTO a (id, b) VALUES ($1, $2)'), 1)
  assert.is(rowOf('  INSERT INTO a ( id , b) VALUES ( $2 , $1) '), 2)
  assert.is(rowOf('INSERT INTO a (id, b) VALUES ($1, $2) ON CONFLICT (b) DO NOTHING'), 1)
  assert.is(rowOf('INSERT INTO a (id, b) VALUES ($1, $2) ON CONFLICT (b) DO UPDATE SET b = 1'), null)
  assert.is(rowOf('INSERT INTO a (b, id) VALUES ($1, $2)'), null)
  assert.is(rowOf('INSERT INTO a (id, b) VALUES ($1, $2), ($3, $4)'), null)
  assert.is(rowOf('INSERT INTO a (id, b) SELECT $1, $2'), null)
  assert.is(rowOf('WITH x AS (SELECT 1) INSERT INTO a (id, b) VALUES ($1, $2)'), null)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE id = $1'), 1)
  assert.is(rowOf('UPDATE a SET b = COALESCE($2, (b + 1)) WHERE id = $12 AND c = 1'), 12)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE id = $1 RETURNING id, b'), 1)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE id = $1 AND (c = 1 OR d = 2)'), 1)
  assert.is(rowOf('DELETE FROM a WHERE id = $3 AND b = 1'), 3)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE id = $1 OR c = 1'), null)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE id = $1 AND c = 1 OR d = 2'), null)
  assert.is(rowOf('UPDATE a SET id = $2 WHERE id = $1'), null)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE user_id = $1'), null)
  assert.is(rowOf('UPDATE a SET b = $2 WHERE c = 1 AND id = $1'), null)
  assert.is(rowOf('UPDATE a SET b = c FROM d WHERE id = $1'), null)
  assert.is(rowOf(`UPDATE a SET b = '(' WHERE id = $1 AND c = ')'`), null)
  assert.is(rowOf('UPDATE a SET b = 1 /* ( */ WHERE id = $1'), null)
  assert.is(rowOf('UPDATE a SET b = 1 -- (\n WHERE id = $1'), null)
  assert.is(rowOf('SELECT * FROM a WHERE id = $1'), null)
  assert.is(rowOf('UPDATE a SET b = 1 WHERE id = $1, 2'), null)
})

test('tables are made for SQLite with checked types, 64-bit integers, and lists as single conditions', () => {
  assert.is(sqliteSchema('CREATE TABLE a (b BIGINT, c bigint)'), 'CREATE TABLE a (b INTEGER, c INTEGER) STRICT')
  assert.is(sqliteSchema('create table a (b);'), 'create table a (b) STRICT')
  assert.is(sqliteSchema(' CREATE TABLE a (b) strict '), 'CREATE TABLE a (b) strict')
  assert.is(sqliteSchema('CREATE /*+ UNLOGGED */ TABLE a (b)'), 'CREATE   TABLE a (b) STRICT')
  assert.is(sqliteSchema('CREATE INDEX c ON a (b /*+ , d\n */)'), 'CREATE INDEX c ON a (b  )')
  assert.is(sqliteSchema('ALTER TABLE a ADD COLUMN b BIGINT'), 'ALTER TABLE a ADD COLUMN b INTEGER')
  assert.is(
    sqliteSchema(`CREATE TABLE a (b TEXT CHECK (b IN ('x', 'y', 'z')), c CHECK (c IN ('v')))`),
    `CREATE TABLE a (b TEXT CHECK (b = 'x' OR b = 'y' OR b = 'z'), c CHECK (c IN ('v'))) STRICT`,
  )
  assert.is(sqliteSchema('CREATE TABLE a (b CHECK (b IN (0, 1)))'), 'CREATE TABLE a (b CHECK (b IN (0, 1))) STRICT')
})

test('Postgres is given what only it knows, and text that is compared byte by byte', () => {
  const { text, name } = postgresText(`SELECT a FROM b /*+ FOR UPDATE\n SKIP LOCKED */ WHERE c = 'TEXT' /* why */`)
  assert.is(text, `SELECT a FROM b  FOR UPDATE\n SKIP LOCKED  WHERE c = 'TEXT' /* why */`)
  assert.match(name, /^m[0-9a-f]{24}$/)
  assert.is(postgresText('SELECT 1').name, 'me004ebd5b5532a4b85984a62')
  assert.is.not(postgresText('SELECT 2').name, name)
  assert.equal(postgresText(' create /*+ UNLOGGED */ TABLE a (b TEXT, c TEXTUAL)'), {
    text: ' create  UNLOGGED  TABLE a (b TEXT COLLATE "C", c TEXTUAL)',
    name: '',
  })
  for (const verb of ['ALTER TABLE a ADD COLUMN b INTEGER', 'DROP TABLE a']) assert.is(postgresText(verb).name, '')
  assert.is.not(postgresText('SELECT created FROM a -- CREATE').name, '')
})

test('a server that lacks unlogged tables or collations is not asked for them', () => {
  const sql = 'CREATE /*+ UNLOGGED */ TABLE a (b TEXT)'
  assert.is(postgresText(sql, new Set(['unlogged tables'] as const)).text, 'CREATE    TABLE a (b TEXT COLLATE "C")')
  assert.is(postgresText(sql, new Set(['collations of columns'] as const)).text, 'CREATE  UNLOGGED  TABLE a (b TEXT)')
  assert.is(postgresText(sql).text, 'CREATE  UNLOGGED  TABLE a (b TEXT COLLATE "C")')
})

test('no statement writes a table twice, and what comes first is written first', () => {
  const texts = [
    'UPDATE a SET b = 1',
    'UPDATE a SET b = 2',
    'INSERT INTO c (d) VALUES (1)',
    '  DELETE FROM a',
    'DELETE FROM e',
  ]
  const steps = texts.map(sql => ({ sql, values: [] }))
  assert.equal(
    apart(steps).map(group => group.map(({ sql }) => texts.indexOf(sql))),
    [[0], [1, 2], [3, 4]],
  )
  assert.equal(apart([]), [])
})

test('several writes go to Postgres as one, with their values behind each other', () => {
  const texts = [
    'UPDATE a SET b = $2 WHERE id = $1',
    'DELETE FROM c WHERE d = $1 OR e = $1',
    'DELETE FROM f WHERE g = $1',
  ]
  const writes =
    'WITH w0 AS (UPDATE a SET b = $2 WHERE id = $1 RETURNING 1), w1 AS (DELETE FROM c WHERE d = $3 OR e = $3 RETURNING 1), ' +
    'w2 AS (DELETE FROM f WHERE g = $4 RETURNING 1)'
  const counts = [0, 1, 2].map(i => `(SELECT COUNT(*) FROM w${i})`)
  assert.is(joinedText(texts, false), `${writes} SELECT ${counts.map((count, i) => `${count} AS c${i}`).join(', ')}`)
  assert.is(joinedText(texts, true), `${writes} SELECT 1 / LEAST(${counts.join(', ')}, 1)`)
  assert.is(joinedText(texts, true), joinedText([...texts], true))
  assert.is(notAll, '22012')
})

test('short beginnings of words are words themselves, longer ones a stretch of them', () => {
  assert.equal(beginsWith('t', 'abc', 3), { sql: 't = $3', values: ['abc'] })
  assert.equal(beginsWith('t', '🦊🦊🦊', 1), { sql: 't = $1', values: ['🦊🦊🦊'] })
  assert.equal(beginsWith('t', 'abcd', 3), { sql: 't >= $3 AND t < $4', values: ['abcd', 'abcd\u{10FFFF}'] })
})

test.run()
