// engines: embedded, postgres; process: shared
/** Who counts is left alone, who stands still is taken for gone, and who cannot know takes nobody for gone. Source: A-331. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import { Senders } from '../../../src/market/webhooks/senders.ts'
import { type Db, StoreError } from '../../../src/store/db.ts'
import { senders as table } from '../../../src/store/tables/webhooks/senders.ts'
import { createVirtualWorld, type VirtualWorld } from '../../../src/world/virtual.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { until } from '../../support/patience.ts'

const YEAR = 365 * 24 * 3_600_000

interface Instance {
  senders: Senders
  world: VirtualWorld
  warnings: string[]
  freed: number
  /** While it is set, the database does not answer this instance. */
  away: boolean
  /** Lets time pass here, beat by beat. */
  pass(ms: number): Promise<void>
}

interface State {
  marketplace: TestMarketplace
  all: Instance[]
  /** Each has a clock of its own. */
  join(startMs?: number): Promise<Instance>
}

const test = suite<State>('senders')

test.before.each(async state => {
  const marketplace = await openTestMarketplace()
  // Its own instance counts by a clock that stands still here, and is not what is looked at.
  const all: Instance[] = []
  Object.assign(state, { marketplace, all, join: (startMs?: number) => joined(marketplace, all, startMs) })
})
test.after.each(async ({ marketplace, all }) => {
  for (const { senders } of all) await senders.close()
  await marketplace.close()
})

async function joined({ market }: TestMarketplace, all: Instance[], startMs = YEAR): Promise<Instance> {
  const world = createVirtualWorld({ startMs, seed: `sender ${all.length}` })
  const refusing = (method: 'read' | 'write') => (work: never) =>
    instance.away ? Promise.reject(new StoreError('away')) : market.db[method](work)
  const db = { read: refusing('read'), write: refusing('write') } as unknown as Db
  const log = (entry: { type: string; message?: string }) => {
    if (entry.type === 'warning') instance.warnings.push(entry.message!)
  }
  const instance: Instance = {
    senders: new Senders({ db, world, log }),
    world,
    warnings: [],
    freed: 0,
    away: false,
    async pass(ms) {
      for (let left = ms; left > 0; left -= dispatch.beatMs) {
        world.tick(Math.min(left, dispatch.beatMs))
        await looked(world)
      }
    },
  }
  all.push(instance)
  instance.senders.open(() => instance.freed++)
  await looked(world)
  return instance
}

/** Its next beat is planned once it has counted and looked. */
const looked = (world: VirtualWorld) => until('the next beat', () => world.nextTimer() !== undefined)

const idsOf = async ({ marketplace: { market } }: State) => {
  const rows = await market.db.read(q => q.all<{ id: string }>(`SELECT ${table.some(['id'])} FROM senders`))
  return rows.map(({ id }) => id)
}

test('one that stands still is taken for gone after a while, by whoever counts, whatever the clocks say', async state => {
  const [still, other] = [await state.join(), await state.join(20 * YEAR)]
  await other.pass(dispatch.silentMs - dispatch.beatMs)
  assert.ok((await idsOf(state)).includes(still.senders.id!))
  await other.pass(dispatch.beatMs)
  assert.not((await idsOf(state)).includes(still.senders.id!))
  assert.ok(other.freed >= 1)
  assert.match(other.warnings.join(), still.senders.id!)
})

test('while it counts, it is left alone', async state => {
  const [one, other] = [await state.join(), await state.join()]
  const { id } = one.senders
  for (let passed = 0; passed < 4 * dispatch.silentMs; passed += dispatch.heardMs) {
    await other.pass(dispatch.heardMs)
    await one.pass(dispatch.beatMs)
  }
  assert.ok((await idsOf(state)).includes(id!))
})

test('it stops to send before others may take it for gone, and is another one when it goes on', async state => {
  const [one, other] = [await state.join(), await state.join()]
  const before = one.senders.id
  assert.ok(one.senders.isHeard)
  one.away = true
  one.world.tick(dispatch.heardMs - 1)
  assert.ok(one.senders.isHeard)
  one.world.tick(1)
  assert.not(one.senders.isHeard)
  assert.ok(dispatch.heardMs < dispatch.silentMs)
  await other.pass(2 * dispatch.silentMs)
  assert.not((await idsOf(state)).includes(before!))
  one.away = false
  await looked(one.world)
  assert.is.not(await one.senders.beHeard(), before)
  assert.ok(one.senders.isHeard)
  assert.ok((await idsOf(state)).includes(one.senders.id!))
})

test('one that nobody has taken for gone is the same when it goes on', async state => {
  const one = await state.join()
  const before = one.senders.id
  one.world.tick(dispatch.heardMs)
  assert.is(await one.senders.beHeard(), before)
})

test('one that could not look, or stood still itself, has seen nobody stand still', async state => {
  const [still, blind] = [await state.join(), await state.join()]
  await blind.pass(dispatch.silentMs - dispatch.beatMs)
  blind.away = true
  await blind.pass(4 * dispatch.silentMs)
  blind.away = false
  await blind.pass(dispatch.silentMs)
  assert.ok((await idsOf(state)).includes(still.senders.id!))
  blind.world.tick(YEAR)
  await looked(blind.world)
  assert.ok((await idsOf(state)).includes(still.senders.id!))
  await blind.pass(dispatch.silentMs + 2 * dispatch.beatMs)
  assert.not((await idsOf(state)).includes(still.senders.id!))
})

test('one that ends is gone at once', async state => {
  const one = await state.join()
  await one.senders.close()
  assert.not((await idsOf(state)).includes(one.senders.id!))
})

test.run()
