// engines: postgres; process: own
/** Behind a pooler in transaction mode all works without a flag; one that can't be seen at the start is known by what it breaks. */
import { randomBytes } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BusyError } from '../../src/store/db.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { freshDatabase } from '../support/databases.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { closeOpened, opened } from '../support/servers.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'

test.after.each(closeOpened)

async function openPooler(options: Parameters<typeof startTransactionPooler>[1] = {}) {
  const { url, drop } = await freshDatabase()
  await opened({ close: drop })
  return opened(await startTransactionPooler(url, options))
}

test('a marketplace behind a pooler needs no flag: a crowd is served, nothing fails, and each statement has its limit', async () => {
  const pooler = await openPooler()
  const secretKey = randomBytes(32).toString('base64')
  const errors: unknown[] = []
  const marketplace = await openTestMarketplace({
    postgres: { url: pooler.url, poolSize: 8, statementTimeoutMs: 2_000 },
    secretKey,
    log: entry => entry.type === 'error' && errors.push(entry),
  })
  await opened({ close: () => marketplace.close(0) })
  const agent = await marketplace.list(await marketplace.join('builder'))
  const buyer = await marketplace.join('buyer', 200_000)
  const before = pooler.transactions()
  const one = async () => {
    const { id } = await marketplace.draft(buyer, agent)
    await buyer.call('POST', `/api/tasks/${id}/submit`)
    await Promise.all([1, 2, 3].map(() => buyer.call('GET', `/api/tasks/${id}`, undefined, 'key')))
  }
  await Promise.all(Array.from({ length: 20 }, one))
  // Each draft and each submit is one; reads may travel together.
  assert.ok(pooler.transactions() >= before + 40)
  assert.equal(errors, [])
  const slow = await marketplace.market.db.read(q => q.get('SELECT pg_sleep(20)')).catch(error => error)
  assert.instance(slow, BusyError)
  await marketplace.checkLedger()
})

test('a pooler that tells of a process of the server is known by what it breaks; from then on nothing fails', async () => {
  const pooler = await openPooler({ honest: true, size: 3 })
  const warned: string[] = []
  const warn = (message: string) => warned.push(message)
  const db = await opened(await openPostgres({ url: pooler.url, poolSize: 1, warn }))
  const ask = () => db.write(tx => tx.get<{ one: number }>('SELECT 1 AS one'))
  let failed = 0
  await until('a warning', async () => {
    await ask().catch(() => failed++)
    return warned.length > 0
  })
  assert.is(failed, 1, 'the first may be another’s fault')
  assert.match(warned[0]!, /pooler.*--db-prepare off/s)
  for (let i = 0; i < 20; i++) assert.equal(await ask(), { one: 1 })
  assert.is(warned.length, 1)
})

test.run()
