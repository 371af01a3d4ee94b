// engines: embedded, postgres; process: shared
/** A database of each release is migrated by this program, and goes on with what it holds. Source: A-105. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TaskRecord } from '../../src/api/records.ts'
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verify } from '../../src/api/signature.ts'
import { version } from '../../src/settings/config.ts'
import { hashOf } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { engine, freshDatabase, isNarrow } from '../support/databases.ts'
import { openTestMarketplace, TestUser } from '../support/marketplace.ts'
import { inFolder } from './folder.ts'
import { type Release, releases, secretKey } from './releases/release.ts'

const known = new Map<string, string>(migrations.map(step => [`${step.id} ${step.name}`, hashOf(step)]))

test('no migration of a release was edited, and the version to come has its database', () => {
  const all = releases()
  for (const release of all)
    for (const [step, hash] of Object.entries(release.migrations))
      assert.is(
        known.get(step),
        hash,
        `migration ${step} is not that of ${release.version}. If ${release.version} is released, leave it as it was and add a ` +
          'step; if it is yet to come, npm run databases writes its database anew',
      )
  const last = all.at(-1)!
  assert.is(last.version, version, 'npm run databases')
  assert.equal(Object.keys(last.migrations), [...known.keys()], 'npm run databases')
})

for (const release of releases())
  test(
    `the database of ${release.version} is migrated, and everybody goes on`,
    inFolder(async file => {
      const opened = await restored(release, file)
      const marketplace = await openTestMarketplace({
        secretKey,
        startMs: release.endedAt + 3_600_000,
        ...(opened.url === null ? { file } : { file: null, postgres: { url: opened.url } }),
      })
      const sink = marketplace.sink()
      assert.is(sink.url, release.agent.url)
      const applied = await marketplace.market.db.read(q => q.all<{ id: number }>('SELECT id FROM migrations'))
      assert.is(applied.length, migrations.length)
      await marketplace.checkLedger()
      const buyer = new TestUser(marketplace.url)
      await buyer.client.login(release.buyer)
      assert.equal(await marketplace.balances(release.buyer.id), release.balances)
      for (const [state, id] of Object.entries(release.tasks)) {
        const task = await buyer.call<TaskRecord>('GET', `/api/tasks/${id}`)
        assert.is(task.status, state === 'disputed' ? 'delivered' : state, id)
        assert.is(task.title, `A task that is ${state}`)
      }
      // The webhook is signed by the secret that was sealed then.
      await buyer.call('POST', `/api/tasks/${release.tasks.draft}/submit`)
      await marketplace.webhooksSent()
      const { headers, ...webhook } = sink.received.at(-1)!
      const { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signature } = headers
      const body = JSON.stringify(webhook)
      const { secret } = release.agent
      assert.equal(verify({ secret, timestamp, signature, body, now: Number(timestamp) }), { ok: true })
      await buyer.call('POST', `/api/tasks/${release.tasks.delivered}/approve`)
      await marketplace.checkLedger()
      await marketplace.close()
      await opened.drop()
    }),
  )

/** Puts the database where it can be opened. */
async function restored({ folder }: Release, file: string): Promise<{ url: string | null; drop(): Promise<void> }> {
  if (engine === 'embedded') {
    writeFileSync(file, gunzipSync(readFileSync(join(folder, 'embedded.db.gz'))))
    return { url: null, drop: async () => {} }
  }
  const { url, drop } = await freshDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const sql = readFileSync(join(folder, 'postgres.sql'), 'utf8')
  await client.query(isNarrow ? sql.replace(/ COLLATE "C"|UNLOGGED /g, '') : sql)
  await client.end()
  return { url, drop }
}

test.run()
