/**
 * One thing that is done with a database, in a process of its own that says how much memory it took:
 * `memory-step.ts STEP FILE [HEAP]`, where HEAP is all that SQLite may have in this process, in bytes.
 */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { backupFile } from '../../src/store/embedded/backup.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { Engine } from '../../src/store/embedded/statements.ts'
import { checkFile, snapshotFile } from '../../src/store/embedded/verify.ts'

const [step = '', file = '', heap] = process.argv.slice(2)
const ROW = 'x'.repeat(3900)
const AT_ONCE = 250

const open = () =>
  openSqlite({
    file,
    journalBytes: 2 ** 40, // no snapshot but the one that is asked for
    warn: message => fail(new Error(message)),
    onFatal: error => fail(error),
  })

function fail(error: Error): never {
  console.error(error)
  process.exit(1)
}

const steps: Record<string, () => Promise<unknown>> = {
  /** 80 MB of rows in the snapshot, each changed once in the journal. */
  async make() {
    const db = await open()
    await db.write(tx => tx.run('CREATE TABLE a (id BIGINT PRIMARY KEY, n BIGINT NOT NULL, text TEXT NOT NULL)'))
    for (let id = 0; id < 20_000; id += AT_ONCE) {
      await db.write(async tx => {
        for (let i = id; i < id + AT_ONCE; i++) await tx.run('INSERT INTO a (id, n, text) VALUES ($1, 0, $2)', [i, ROW])
      })
    }
    await db.snapshot()
    for (let id = 0; id < 20_000; id += AT_ONCE) {
      await db.write(tx => tx.run('UPDATE a SET n = n + 1 WHERE id >= $1 AND id < $2', [id, id + AT_ONCE]))
    }
    await db.close()
  },
  /** One row in a journal of 160 MB. */
  async rewrite() {
    const db = await open()
    await db.write(tx => tx.run('CREATE TABLE b (id BIGINT PRIMARY KEY, text TEXT NOT NULL)'))
    await db.write(tx => tx.run('INSERT INTO b (id, text) VALUES (1, $1)', ['']))
    const text = 'y'.repeat(200_000)
    for (let i = 0; i < 800; i++) await db.write(tx => tx.run('UPDATE b SET text = $1 WHERE id = 1', [text + i]))
    await db.close()
  },
  async start() {
    const db = await open()
    const said = await db.read(async q => {
      const [{ n: tables }] = (await q.all<{ n: number }>(
        `SELECT count(*) AS n FROM sqlite_schema WHERE name = 'a'`,
      )) as [{ n: number }]
      return tables ? q.get('SELECT count(*) AS rows, sum(n) AS sum FROM a') : q.get('SELECT count(*) AS rows FROM b')
    })
    await db.close()
    return said
  },
  async check() {
    return (await checkFile(file)).problems
  },
  backup: async () => (await backupFile(file, `${file}.copy-${process.pid}`, null)).bytes > 0,
  snapshot: () => snapshotFile(file),
  /** What the thread of a running database does beside it. */
  async fold() {
    const db = await open()
    await db.snapshot()
    await db.close()
  },
  /** The same of a file that is three quarters free, as after a purge. */
  async pack() {
    const db = await open()
    await db.write(tx => tx.run('DELETE FROM a WHERE id % 4 > 0'))
    await db.snapshot()
    assert.ok(db.stats().snapshotBytes < 30 * 1024 * 1024, `${db.stats().snapshotBytes}`)
    await db.close()
  },
}

/** The most that was resident so far, in bytes. */
const peak = () =>
  process.platform === 'linux'
    ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024
    : process.resourceUsage().maxRSS * 1024

const first = await Engine.open() // so that SQLite itself counts as what the process takes without a database
if (heap) first.column(`PRAGMA hard_heap_limit = ${heap}`)
first.close()
const before = peak()
const said = await steps[step]!()
console.log(JSON.stringify({ said: said ?? null, took: peak() - before }))
