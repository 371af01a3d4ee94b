// engines: embedded; process: own
/** A process that is killed under load: what it had told of is there at the next start. */
import { spawn } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { loader, urlOf } from '../support/child-code.ts'
import { inFolder, unexpected } from './folder.ts'

const source = JSON.stringify(urlOf('src/store/embedded/database.ts'))

/** Writes rows without end, eight at a time, and says each one that is durable. */
const writer = (file: string, from: number) => `import(${source}).then(async ({ openSqlite }) => {
  const db = await openSqlite({ file: ${JSON.stringify(file)}, onFatal: console.error, journalBytes: 30000 })
  await db.write(tx => tx.run('CREATE TABLE IF NOT EXISTS a (id BIGINT PRIMARY KEY, twin BIGINT NOT NULL)'))
  let id = ${from}
  const client = async () => {
    for (;;) {
      const mine = ++id
      await db.write(async tx => {
        await tx.run('INSERT INTO a (id, twin) VALUES ($1, 0)', [mine])
        await tx.run('UPDATE a SET twin = id WHERE id = $1', [mine])
      })
      process.stdout.write(mine + '\\n')
    }
  }
  for (let i = 0; i < 8; i++) client()
})`

/** So many are told of at least. */
const ROWS = 20

const runAndKill = (file: string, from: number, afterMs: number) =>
  new Promise<number[]>(resolve => {
    const child = spawn(process.execPath, [...loader, '-e', writer(file, from)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    let ending = false
    child.stdout.on('data', data => {
      said += data
      if (ending || said.split('\n').length <= ROWS) return
      ending = true
      setTimeout(() => child.kill('SIGKILL'), afterMs)
    })
    // A last line may be cut short: it was not told of.
    child.once('close', () => resolve(said.slice(0, said.lastIndexOf('\n')).split('\n').map(Number)))
  })

test(
  'kill -9 under load: every row that was told of is there, and no half transaction',
  inFolder(async file => {
    let from = 0
    for (const afterMs of [60, 250, 400]) {
      const told = await runAndKill(file, from, afterMs)
      const db = await openSqlite({ file, onFatal: unexpected, warn: message => unexpected(new Error(message)) })
      const rows = await db.read(q => q.all<{ id: number; twin: number }>('SELECT id, twin FROM a'))
      await db.close()
      const there = new Set(rows.map(({ id }) => id))
      assert.ok(told.length >= ROWS)
      assert.equal(
        told.filter(id => !there.has(id)),
        [],
      )
      assert.ok(rows.every(({ id, twin }) => id === twin))
      from = Math.max(...there)
    }
  }),
)

test.run()
