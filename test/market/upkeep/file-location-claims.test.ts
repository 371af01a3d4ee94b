// engines: embedded; process: shared
/** The claim on the location of uploaded files by itself: who may join whom, how it lasts and how it ends. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { claimLocation, type FileLocation, LocationError } from '../../../src/market/upkeep/file-location.ts'
import { StoreError } from '../../../src/store/db.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const LEASE = 30_000
const RENEWAL = 10_000

async function open() {
  const bare = await openBareMarket()
  const { market, world, settled } = bare
  const lost: string[] = []
  const claim = (kind: FileLocation['kind'], name = 'folder a', holder = `the ${kind}`) =>
    claimLocation(market, { kind, name, holder }, error => lost.push(error.message))
  const refusal = async (kind: FileLocation['kind'], name?: string) =>
    claim(kind, name).then(
      () => null,
      error => error as Error,
    )
  const rows = () =>
    market.db.read(q =>
      q.all<{ location: string; until: number }>(
        'SELECT location, leased_until AS until FROM file_locations ORDER BY leased_until',
      ),
    )
  /** Lets time pass without a renewal, as it does for a process that stands still. */
  const standStill = (ms: number) =>
    market.db.write(tx => tx.run('UPDATE file_locations SET leased_until = leased_until - $1', [ms]))
  const pass = async (ms: number) => {
    world.tick(ms)
    for (let i = 0; i < 5; i++) await settled()
  }
  return { ...bare, lost, claim, refusal, rows, standStill, pass }
}

test('shared places of one name are joined; alone is alone, and so is another name', async () => {
  const { claim, refusal, close } = await open()
  await claim('shared')
  assert.is(await refusal('shared'), null)
  for (const [kind, name] of [
    ['alone', undefined],
    ['shared', 'folder b'],
    ['successor', 'folder b'],
  ] as const)
    assert.instance(await refusal(kind, name), LocationError, `${kind} ${name}`)
  assert.instance(await refusal('alone'), StoreError)
  await close()
})

test('a successor takes the place of whoever was there before, whose claim is gone at once', async () => {
  const { claim, rows, close } = await open()
  await claim('alone')
  await claim('successor')
  assert.is((await rows()).length, 1)
  await close()
})

test('one that comes to a shared location leaves the claims of the others', async () => {
  const { claim, rows, close } = await open()
  await claim('shared')
  await claim('shared')
  assert.is((await rows()).length, 2)
  await close()
})

test('a claim is good for half a minute and renewed every ten seconds', async () => {
  const { world, claim, rows, pass, close } = await open()
  const began = world.realNow()
  await claim('alone')
  assert.is((await rows())[0]!.until, began + LEASE)
  await pass(RENEWAL - 1)
  assert.is((await rows())[0]!.until, began + LEASE)
  await pass(1)
  assert.is((await rows())[0]!.until, began + RENEWAL + LEASE)
  await pass(RENEWAL)
  assert.is((await rows())[0]!.until, began + 2 * RENEWAL + LEASE)
  await close()
})

test('whoever stood still for too long claims again, and loses it to others who came meanwhile', async () => {
  const { claim, lost, rows, standStill, pass, close } = await open()
  await claim('alone')
  await standStill(LEASE)
  await pass(RENEWAL)
  assert.equal([(await rows()).length, lost], [1, []])
  await standStill(LEASE)
  await claim('alone', 'folder b', 'another')
  await pass(RENEWAL)
  assert.is(lost.length, 1)
  assert.match(lost[0]!, /^Another instance on this database \(another\)/)
  await close()
})

test('a successor that stood still does not drive out who came after it', async () => {
  const { claim, lost, standStill, rows, pass, close } = await open()
  await claim('successor')
  await standStill(LEASE)
  await claim('successor', 'folder a', 'the next one')
  await pass(RENEWAL)
  assert.is(lost.length, 1)
  assert.match(lost[0]!, /\(the next one\)/)
  assert.is((await rows()).length, 1)
  await close()
})

test('a location that was left is free at once, and whoever left it renews and loses nothing', async () => {
  const { claim, lost, refusal, rows, pass, close } = await open()
  const { release } = await claim('alone')
  await release()
  assert.equal(await rows(), [])
  assert.is(await refusal('alone', 'folder b'), null)
  await pass(3 * RENEWAL)
  assert.equal([lost, (await rows()).map(({ location }) => location)], [[], ['folder b']])
  await close()
})

test('a claim that is left while it is renewed is renewed no more', async () => {
  const { market, world, claim, rows, pass, close } = await open()
  const { release } = await claim('alone')
  const { write } = market.db
  let goOn = () => {}
  const gate = new Promise<void>(resolve => {
    goOn = resolve
  })
  market.db.write = async work => {
    await gate
    return write.call(market.db, work) as never
  }
  world.tick(RENEWAL)
  const released = release()
  goOn()
  await released
  assert.equal(await rows(), [])
  await pass(RENEWAL)
  assert.equal(await rows(), [])
  Reflect.deleteProperty(market.db, 'write')
  await close()
})

test('a database that is away loses no claim: it is made again when it is back', async () => {
  const { market, claim, lost, rows, pass, standStill, close } = await open()
  await claim('alone')
  await standStill(LEASE)
  market.db.write = async () => {
    throw new StoreError('away')
  }
  market.db.migrate = market.db.write
  await pass(RENEWAL)
  assert.equal(lost, [])
  Reflect.deleteProperty(market.db, 'write')
  Reflect.deleteProperty(market.db, 'migrate')
  await pass(RENEWAL)
  assert.is((await rows())[0]!.until, market.world.realNow() + LEASE)
  await close()
})

test.run()
