// engines: postgres; process: own
/** A Postgres that has no connection to spare: an instance works with those that it has, and takes more once there are some. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { inTime, until } from '../support/patience.ts'
import { closeOpened, opened } from '../support/servers.ts'

test.after.each(closeOpened)

const LIMIT = 5

/** A database with an owner who may have few connections. */
async function openScarce() {
  const { url, drop } = await freshDatabase()
  const owner = new pg.Client(url).on('error', () => {})
  await owner.connect()
  const role = `scarce_${process.pid}`
  await owner.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT ${LIMIT}`)
  await owner.query(`GRANT ALL ON SCHEMA public TO ${role}`)
  const close = async () => {
    await owner.query(`DROP OWNED BY ${role}`)
    await owner.query(`DROP ROLE ${role}`)
    await owner.end()
    await drop()
  }
  await opened({ close })
  const scarce = new URL(url)
  scarce.username = role
  const count = async () =>
    (await owner.query('SELECT COUNT(*)::INT AS count FROM pg_stat_activity WHERE usename = $1', [role])).rows[0].count
  /** Connections of somebody else, of which it takes all that are left. */
  const takeRest = async () => {
    const taken: pg.Client[] = []
    for (;;) {
      const client = new pg.Client(scarce.href).on('error', () => {})
      const error = await client.connect().then(
        () => null,
        error => error,
      )
      if (error) return { giveBack: () => Promise.all(taken.map(one => one.end())) }
      taken.push(client)
    }
  }
  return { url: scarce.href, count, takeRest }
}

test('with one connection left a crowd is served, readyz says so, and more are taken once there are some', async () => {
  const { url, count, takeRest } = await openScarce()
  const secretKey = randomBytes(32).toString('base64')
  const marketplace = await openTestMarketplace({ postgres: { url, poolSize: 4 }, secretKey })
  await opened({ close: () => marketplace.close(0) })
  const buyer = await marketplace.join('buyer')
  const agent = await marketplace.list(await marketplace.join('builder'))
  const rest = await takeRest()
  assert.is(await count(), LIMIT)
  const crowd = async () => {
    const body = { ...taskFields, agentId: agent.id }
    const asked = Array.from({ length: 40 }, () => buyer.ask('POST', '/api/tasks', body, 'key'))
    return new Set((await Promise.all(asked)).map(({ status }) => status))
  }
  for (const _ of [1, 2]) {
    const [statuses, ready] = await Promise.all([crowd(), fetch(`${marketplace.url}/readyz`)])
    assert.equal([[...statuses], ready.status], [[201], 200])
  }
  await rest.giveBack()
  await until('more connections', async () => {
    assert.equal(await crowd(), new Set([201]))
    return (await count()) > 2
  })
  await marketplace.checkLedger()
})

test('without any connection who asks waits for one; a start says what to do', async () => {
  const { url, takeRest } = await openScarce()
  const db = await openPostgres({ url, poolSize: 2 })
  await opened(db)
  await db.migrate(tx => tx.run('CREATE TABLE rows (id TEXT PRIMARY KEY)'))
  const owner = new pg.Client(url).on('error', () => {})
  await owner.connect()
  await owner.query(
    'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = CURRENT_USER AND pid <> pg_backend_pid()',
  )
  const rest = await takeRest()
  await until('no connection to spare', async () => !(await db.ready()))
  const asked = db.write(tx => tx.run(`INSERT INTO rows (id) VALUES ('a')`))
  const refused = await openPostgres({ url }).catch(error => error)
  assert.match(refused.message, /max_connections.*--db-pool/)
  await owner.end()
  await rest.giveBack()
  assert.is(await inTime('a connection', asked), 1)
  await until('readiness', () => db.ready())
})

test.run()
