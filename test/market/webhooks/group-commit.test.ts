// engines: embedded; process: shared
/** Notes on tasks are written together, each as if it were alone. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { GroupCommit } from '../../../src/market/webhooks/group-commit.ts'
import type { Db, Tx } from '../../../src/store/db.ts'
import { openBareMarket } from '../../support/bare-market.ts'
import { plainTx } from '../../support/plain-tx.ts'

/** The database, and what each of its write transactions has locked. */
async function open() {
  const { market, close } = await openBareMarket()
  const units: string[][] = []
  const write: Db['write'] = work =>
    market.db.write(tx => {
      const locked: string[] = []
      units.push(locked)
      return work({
        ...plainTx(tx),
        lock: async (table, ...ids) => void locked.push(...ids.map(id => `${table} ${id}`)),
      })
    })
  return { groups: new GroupCommit({ write }), read: market.db.read.bind(market.db), units, close }
}

test('the tasks of a group are held together, once each', async () => {
  const { groups, units, close } = await open()
  const note = (taskId: string) => groups.write(taskId, async () => taskId)
  const all = ['c', 'a', 'd', 'b', 'a', 'd'].map(note)
  assert.equal(await Promise.all(all), ['c', 'a', 'd', 'b', 'a', 'd'])
  assert.equal(units, [['tasks c', 'tasks a', 'tasks d', 'tasks b']])
  await close()
})

test('what has gathered when a transaction begins is a group, of 128 notes at most', async () => {
  const { groups, units, close } = await open()
  const names = Array.from({ length: 260 }, (_, n) => `t${n + 100}`)
  assert.equal(await Promise.all(names.map(name => groups.write(name, async () => name))), names)
  assert.equal(
    units.map(locked => locked.length),
    [128, 128, 4],
  )
  await close()
})

test('a note that fails fails alone: what stands beside it is written', async () => {
  const { groups, read, close } = await open()
  const set = (name: string) => (tx: Tx) => tx.run('INSERT INTO settings (name, value) VALUES ($1, $1)', [name])
  const works = [
    set('one'),
    set('two'),
    async () => {
      throw new Error('no')
    },
    set('three'),
  ]
  const ends = await Promise.allSettled(works.map((work, n) => groups.write<unknown>(`task${n}`, work)))
  assert.equal(
    ends.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.is((ends[2] as PromiseRejectedResult).reason.message, 'no')
  const sql = `SELECT name FROM settings WHERE name IN ('one', 'two', 'three') ORDER BY name`
  assert.equal(await read(q => q.all(sql)), [{ name: 'one' }, { name: 'three' }, { name: 'two' }])
  assert.is(await groups.write('later', async () => 'still written'), 'still written')
  await close()
})

test.run()
