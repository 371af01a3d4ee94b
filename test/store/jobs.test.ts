// engines: embedded; process: own
/** Jobs: one holder at a time, and none for ever. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { claimJob, endJob, ensureJob, isJobDue, releaseJobs } from '../../src/store/tables/upkeep/jobs.ts'
import { unexpected } from './folder.ts'

async function withJob() {
  const db = await openSqlite({ file: null, onFatal: unexpected })
  await migrate(db, migrations, () => 1)
  await db.write(tx => ensureJob(tx, 'sweep', 100))
  const claim = (now: number, realNow: number, leasedUntil: number) =>
    db.write(async tx => (await claimJob(tx, { name: 'sweep', now, realNow, leasedUntil }))?.dueAt)
  const end = (leasedUntil: number, nextAt: number) => db.write(tx => endJob(tx, 'sweep', leasedUntil, nextAt))
  return { db, claim, end }
}

test('a job is claimed once it is due, by one at a time, and not again before its next time', async () => {
  const { db, claim, end } = await withJob()
  assert.is(await claim(99, 5, 50), undefined)
  assert.is(await db.read(q => isJobDue(q, 'sweep', 99, 5)), false)
  assert.is(await db.read(q => isJobDue(q, 'sweep', 100, 5)), true)
  const both = await Promise.all([claim(100, 5, 50), claim(100, 6, 51)])
  assert.equal(both, [100, undefined])
  assert.is(await db.read(q => isJobDue(q, 'sweep', 100, 49)), false)
  assert.is(await end(50, 200), 1)
  assert.is(await claim(199, 60, 90), undefined)
  assert.is(await claim(200, 60, 90), 200)
  await db.close()
})

test('a lease that is over can be taken up; its old holder ends nothing', async () => {
  const { db, claim, end } = await withJob()
  assert.is(await claim(100, 5, 50), 100)
  assert.is(await claim(100, 50, 90), 100)
  assert.is(await end(50, 999), 0)
  assert.is(await end(90, 200), 1)
  await db.close()
})

test('a job that is there keeps its time; what a dead process held is free', async () => {
  const { db, claim } = await withJob()
  await db.write(tx => ensureJob(tx, 'sweep', 7))
  assert.is(await claim(99, 5, 50), undefined)
  assert.is(await claim(100, 5, 50), 100)
  await db.write(releaseJobs)
  assert.is(await claim(100, 6, 51), 100)
  await db.close()
})

test.run()
