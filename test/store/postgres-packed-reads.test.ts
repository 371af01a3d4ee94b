// engines: postgres; process: shared
/** Reads that need no consistent state share a packet, and their connection goes on. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'

test('they leave their connection to the next ones, also where one of them fails', async () => {
  const { url, drop } = await freshDatabase()
  const db = await openPostgres({ url, poolSize: 1 })
  const name = await db.read(q => q.get<{ name: string }>(`SELECT current_setting('application_name') AS name`))
  assert.is(name?.name, 'marketplace', 'which tells an operator whose connections they are')
  const pid = () => db.readCommitted(q => q.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))
  const first = await pid()
  assert.equal(await pid(), first)
  const broken = db.readCommitted(q => q.get('SELECT 1 / CAST($1 AS BIGINT) AS one', [0])).catch(error => error.code)
  assert.equal(await Promise.all([broken, pid()]), ['22012', first])
  assert.equal(await pid(), first)
  await db.close()
  await drop()
})

test('however many slow reads one account has under way, another finds a connection', async () => {
  const { url, drop } = await freshDatabase()
  const db = await openPostgres({ url, poolSize: 4 })
  let end = () => {}
  const held = new Promise<void>(resolve => (end = resolve))
  let ended = 0
  const slow = Array.from({ length: 12 }, () =>
    db.read(async q => {
      await q.get('SELECT 1 AS one')
      await held
      ended++
    }, 'one account'),
  )
  assert.equal(await db.read(q => q.get('SELECT 2 AS two'), 'another'), { two: 2 })
  assert.equal(await db.write(tx => tx.get('SELECT 3 AS three'), 'another'), { three: 3 })
  assert.is(ended, 0)
  end()
  await Promise.all(slow)
  assert.is(ended, 12)
  await db.close()
  await drop()
})

test.run()
