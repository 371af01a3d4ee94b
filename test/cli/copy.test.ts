// engines: postgres; process: own; lengths: long
/** `marketplace db copy`: a deployment moves to Postgres with everything in it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpUser } from '../../src/sim/http-user.ts'
import { leftBehind, tables } from '../../src/store/copy.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { sameNames } from '../support/same-names.ts'
import { inFolder, run, start } from './program.ts'

test(
  'a copy has every row, keeps its sessions, keys and money, and goes on as a marketplace; its source is as it was',
  inFolder(async folder => {
    const file = join(folder, 'market.db')
    const marketplace = await openTestMarketplace({ file })
    const builder = await marketplace.join('builder')
    const buyer = await marketplace.join('buyer', 900_000)
    const agent = await marketplace.list(builder)
    for (let i = 0; i < 230; i++) {
      const { id } = await marketplace.draft(buyer, agent)
      if (i < 5) await buyer.call('POST', `/api/tasks/${id}/submit`)
    }
    await marketplace.webhooksSent()
    const balances = await marketplace.balances(buyer.id)
    await marketplace.close()

    const { url, drop } = await freshDatabase()
    const copied = await run(['db', 'copy', '--from', file, '--to', url, '--json'], folder)
    assert.is(copied.code, 0, copied.err)
    const report = JSON.parse(copied.out)
    assert.equal([report.tables.users, report.tables.tasks, report.tables.deliveries], [3, 230, 5])
    assert.is((await run(['db', 'check', file], folder)).code, 0)
    await assertAlike(url, report.tables)

    const again = await run(['db', 'copy', '--from', file, '--to', url], folder)
    assert.is(again.code, 1)
    assert.match(again.err, 'The target is not empty')

    const env = { MARKETPLACE_SECRET_KEY: readFileSync(`${file}.key`, 'utf8').trim() }
    const { child, ended, firstLine } = start(['serve', '--db', url, '--port', '0', '--json'], folder, env)
    const ready = JSON.parse(await firstLine)
    const moved = Object.assign(new HttpUser(ready.url), { key: buyer.key })
    const wallet = await moved.call<object>('GET', '/api/wallet', undefined, 'key')
    assert.match(JSON.stringify(wallet), `:${balances.available},`)
    child.kill('SIGTERM')
    assert.is((await ended).code, 0)
    await drop()
  }),
)

/** No table is forgotten, and each has as many rows as were told. */
async function assertAlike(url: string, counts: Record<string, number>) {
  const db = await openPostgres({ url })
  const sql = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name`
  const names = (await db.read(q => q.all<{ name: string }>(sql))).map(({ name }) => name)
  sameNames([...tables, ...leftBehind, 'migrations'], names)
  for (const table of tables) {
    const row = await db.read(q => q.get<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))
    assert.is(row!.count, counts[table], table)
  }
  await db.close()
}

test(
  'what can’t be copied is refused with what to do, and nothing is made of it',
  inFolder(async folder => {
    assert.is((await run(['db', 'copy', '--from', 'a.db'], folder)).code, 2)
    assert.is((await run(['db', 'copy', '--from', 'a.db', '--to', 'postgres://x@127.0.0.1:1/y'], folder)).code, 1)
    await run(['db', 'migrate', 'a.db'], folder)
    const file = await run(['db', 'copy', '--from', 'a.db', '--to', 'b.db'], folder)
    assert.is(file.code, 2)
    assert.match(file.err, '--to takes postgres://')
    const away = await run(['db', 'copy', '--from', 'a.db', '--to', 'postgres://x@127.0.0.1:1/y'], folder)
    assert.is(away.code, 1)
    assert.match(away.err, "Postgres can't be reached")
  }),
)

test.run()
