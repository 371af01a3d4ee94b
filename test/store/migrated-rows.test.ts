// engines: postgres; process: own
/** Steps that change rows which are there already, on both engines. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Db, Tx } from '../../src/store/db.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { openPostgres } from '../../src/store/postgres/database.ts'
import { deliverablesOf, insertDeliverable } from '../../src/store/tables/deliverables.ts'
import { freshDatabase } from '../support/databases.ts'
import { unexpected } from './folder.ts'

/** With a collation that orders capitals among small letters, as ids must not be. */
async function openBoth(): Promise<[engine: string, db: Db, close: () => Promise<unknown>][]> {
  const { url, drop } = await freshDatabase({ english: true })
  const embedded = await openSqlite({ file: null, onFatal: unexpected })
  const postgres = await openPostgres({ url, warn: () => {} })
  return [
    ['embedded', embedded, () => embedded.close()],
    ['postgres', postgres, () => postgres.close().then(drop)],
  ]
}

const before = (id: number) => migrations.filter(step => step.id < id)
const PLACES = 141

async function insertTasks(tx: Tx, ids: readonly string[]) {
  await tx.run(
    `INSERT INTO users (id, email, name, password_hash, is_builder, is_admin, created_at)
     VALUES ('u', 'u@x.example', 'U', '', 1, 0, 0)`,
  )
  await tx.run(
    `INSERT INTO agents (id, slug, builder_id, name, tagline, description, pricing_model, base_price, turnaround_hours, tags,
       status, created_at, updated_at) VALUES ('a', 'a', 'u', 'A', '', '', 'fixed', 200, 24, '[]', 'verified', 0, 0)`,
  )
  for (const id of ids) {
    await tx.run(
      `INSERT INTO tasks (id, agent_id, buyer_id, builder_id, title, description, agreed_price, status, created_at, updated_at)
       VALUES ($1, 'a', 'u', 'u', 'T', 'D', 200, 'delivered', 0, 0)`,
      [id],
    )
  }
}

// Not in the order in which they are written, nor in that of their times.
const deliverables = [
  ['t1', 'd_b', 10],
  ['t2', 'd_z', 10],
  ['t1', 'd_B', 30],
  ['t1', 'd_a', 20],
  ['t2', 'd_1', 50],
  ['t3', 'd_y', 10],
] as const

test('deliverables that are there have their places by their ids, task by task, and the next one comes last', async () => {
  for (const [engine, db, close] of await openBoth()) {
    await migrate(db, before(PLACES), () => 1)
    await db.write(async tx => {
      await insertTasks(tx, ['t1', 't2', 't3', 't4'])
      for (const row of deliverables) {
        await tx.run('INSERT INTO deliverables (task_id, id, created_at) VALUES ($1, $2, $3)', [...row])
      }
    })
    const applied = await migrate(db, migrations, () => 2)
    assert.is(applied[0], 'deliverable places', engine)
    const rows = await db.read(q =>
      q.all<{ told: string; place: number }>(
        `SELECT task_id || ' ' || id || ' ' || created_at AS told, place FROM deliverables ORDER BY task_id, place`,
      ),
    )
    assert.equal(
      rows.map(({ told, place }) => [told, place]),
      [
        ['t1 d_B 30', 0],
        ['t1 d_a 20', 1],
        ['t1 d_b 10', 2],
        ['t2 d_1 50', 0],
        ['t2 d_z 10', 1],
        ['t3 d_y 10', 0],
      ],
      engine,
    )
    const row = { content: 'x', notes: null, files: null, createdAt: 5 }
    await db.write(async tx => {
      await insertDeliverable(tx, 't1', { ...row, id: 'd_0' }, 20)
      await insertDeliverable(tx, 't4', { ...row, id: 'd_9' }, 20)
    })
    const idsOf = async (taskId: string) =>
      (await db.read(q => deliverablesOf(q, taskId, 10, 0))).map(({ id }) => id).join(' ')
    assert.equal([await idsOf('t1'), await idsOf('t4')], ['d_B d_a d_b d_0', 'd_9'], engine)
    const twice = await db
      .write(tx => tx.run(`INSERT INTO deliverables (task_id, id, created_at, place) VALUES ('t1', 'd_x', 0, 3)`))
      .catch(error => error)
    assert.instance(twice, Error, 'no two have one place')
    await close()
  }
})

test.run()
