// engines: embedded; process: shared
/** Files of deliverables between their arrival and their end: kept all or none, and never left. Source: A-22. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Refusal } from '../../../src/api/failures.ts'
import type { Market } from '../../../src/market/market.ts'
import { refuseWhenFull } from '../../../src/market/permission.ts'
import { attachFiles, dropFiles, keepFiles, removeOrphans } from '../../../src/market/tasks/files.ts'
import type { FileStore } from '../../../src/store/files/file-store.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const HOUR = 3_600_000
const file = (id: string) => ({ id, path: `/tmp/${id}` })

async function open() {
  const bare = await openBareMarket()
  const there = new Set<string>()
  const broken = new Set<string>()
  const check = (id: string) => {
    if (broken.has(id)) throw new Error(`${id} is broken`)
  }
  const files = {
    keep: async (id: string) => {
      check(id)
      there.add(id)
    },
    remove: async (id: string) => {
      check(id)
      there.delete(id)
    },
  } as unknown as FileStore
  const market: Market = { ...bare.market, files }
  const known = async () =>
    (await market.db.read(q => q.all<{ id: string }>('SELECT id FROM uploads ORDER BY id'))).map(({ id }) => id)
  return { ...bare, market, there, broken, known }
}

test('all that arrived are kept, and known before', async () => {
  const { market, there, known, close } = await open()
  await keepFiles(market, [])
  await keepFiles(market, [file('a'), file('b')])
  assert.equal(
    [[...there], await known()],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
  await market.db.write(tx => attachFiles(tx, [{ id: 'a' }] as never))
  assert.equal(await known(), ['b'], 'what a deliverable holds is its own')
  const late = await market.db.write(tx => attachFiles(tx, [{ id: 'b' }, { id: 'a' }] as never)).catch(error => error)
  assert.instance(late, Refusal)
  assert.is(late.code, 'lost_race')
  await close()
})

test('where one can not be kept none is', async () => {
  const { market, there, broken, known, close } = await open()
  broken.add('b')
  const error = await keepFiles(market, [file('a'), file('b'), file('c')]).catch(reason => reason)
  assert.is(error.message, 'b is broken')
  assert.equal([...there], [])
  assert.equal(await known(), ['b'], 'what could not be removed is removed later')
  await close()
})

test('what nothing holds is dropped; what can not be removed is told and removed later', async () => {
  const { market, there, broken, known, logged, world, close } = await open()
  await keepFiles(market, ['a', 'b', 'c'].map(file))
  await market.db.write(tx => attachFiles(tx, [{ id: 'c' }] as never))
  broken.add('a')
  await dropFiles(market, ['a', 'b', 'c'].map(file))
  assert.equal([[...there], await known()], [['a', 'c'], ['a']])
  const message = 'A file without a deliverable could not be removed yet: a is broken'
  assert.equal(logged, [{ type: 'warning', message }])
  world.tick(HOUR + 1)
  await removeOrphans(market)
  assert.equal(await known(), ['a'])
  assert.is(logged.length, 2)
  broken.clear()
  await removeOrphans(market)
  assert.equal(await known(), ['a'], 'in an hour')
  world.tick(HOUR + 1)
  await removeOrphans(market)
  assert.equal([[...there], await known(), logged.length], [['c'], [], 2])
  await close()
})

test('what a crash left is removed after an hour, and nothing that is under way', async () => {
  const { market, there, known, world, close } = await open()
  await keepFiles(market, [file('a')])
  world.tick(1)
  await keepFiles(
    market,
    Array.from({ length: 120 }, (_, n) => file(`b${n}`)),
  )
  world.tick(HOUR - 2)
  await removeOrphans(market)
  assert.is(there.size, 121)
  world.tick(2)
  await removeOrphans(market)
  assert.equal([there.size, there.has('a')], [120, false])
  world.tick(1)
  await removeOrphans(market)
  assert.equal([there.size, await known()], [0, []])
  await close()
})

test('a full database refuses what is new', () => {
  refuseWhenFull({ isFull: false })
  refuseWhenFull({ isFull: true }, () => false)
  assert.throws(() => refuseWhenFull({ isFull: true }), /is full/)
})

test.run()
