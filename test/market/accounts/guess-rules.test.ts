// engines: embedded; process: shared
/** How long guesses wait, rule by rule and to the millisecond, where one process counts. Source: A-193. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Refusal } from '../../../src/api/failures.ts'
import { guessing } from '../../../src/api/limits.ts'
import { forgive, fromUnknown, type GuessTarget, guess } from '../../../src/market/accounts/guesses.ts'
import { openBareMarket } from '../../support/bare-market.ts'

type Mode = 'strict' | 'warn' | 'off'

async function open(rateLimits: Mode = 'strict') {
  const bare = await openBareMarket({ rateLimits })
  const { market } = bare
  /** Seconds to wait; null if it was let through. */
  const wait = (targets: readonly GuessTarget[]) =>
    guess(market, targets).then(
      () => null,
      error => {
        assert.instance(error, Refusal)
        return Number((error as Refusal).headers['retry-after'])
      },
    )
  return { ...bare, wait }
}

const rules = Object.entries(guessing.rules) as [GuessTarget['rule'], (typeof guessing.rules)['pair']][]

for (const [rule, { free, baseMs, capMs, forgottenMs }] of rules) {
  test(`${rule}: ${free} are free, then each wait is twice the one before, up to its cap`, async () => {
    const { world, wait, close } = await open()
    const targets = [{ rule, at: ['ann'] }]
    for (let n = 0; n < free; n++) assert.is(await wait(targets), null)
    for (let waitMs: number = baseMs; ; waitMs = Math.min(capMs, 2 * waitMs)) {
      assert.is(await wait(targets), waitMs / 1000)
      world.tick(waitMs - 1)
      assert.is(await wait(targets), 1, 'one ms too early')
      world.tick(1)
      assert.is(await wait(targets), null)
      if (waitMs === capMs) break
    }
    assert.is(await wait(targets), capMs / 1000, 'the cap stays the cap')
    await close()
  })

  test(`${rule}: counting begins anew some time after the last wait is over, and not before`, async () => {
    const { world, wait, close } = await open()
    const targets = [{ rule, at: ['ann'] }]
    const spend = async () => {
      for (let n = 0; n < free; n++) assert.is(await wait(targets), null)
    }
    await spend()
    world.tick(baseMs + forgottenMs - 1)
    assert.is(await wait(targets), null)
    assert.is(await wait(targets), (2 * baseMs) / 1000, 'still counted')
    world.tick(2 * baseMs + forgottenMs)
    await spend()
    assert.is(await wait(targets), baseMs / 1000)
    await close()
  })
}

test('a guess at several counts at all of them or at none, and waits for the longest', async () => {
  const { world, wait, close } = await open()
  const [pair, own]: GuessTarget[] = [
    { rule: 'pair', at: ['ann', 'here'] },
    { rule: 'strangers', at: ['ann'] },
  ]
  const { free, baseMs } = guessing.rules.pair
  for (let n = 0; n < free; n++) await wait([pair!])
  for (let n = 0; n < guessing.rules.strangers.free; n++) await wait([own!])
  for (const targets of [
    [pair!, own!],
    [own!, pair!],
  ])
    assert.is(await wait(targets), baseMs / 1000)
  world.tick(guessing.rules.strangers.baseMs)
  assert.is(await wait([own!, pair!]), (baseMs - guessing.rules.strangers.baseMs) / 1000)
  assert.is(await wait([own!]), null, 'what was refused did not count')
  await close()
})

test('another account, address or rule is another target', async () => {
  const { wait, close } = await open()
  for (let n = 0; n < guessing.rules.pair.free; n++) await wait([{ rule: 'pair', at: ['ann', 'here'] }])
  assert.ok(await wait([{ rule: 'pair', at: ['ann', 'here'] }]))
  const others: GuessTarget[] = [
    { rule: 'pair', at: ['bob', 'here'] },
    { rule: 'pair', at: ['ann', 'there'] },
    { rule: 'own', at: ['ann', 'here'] },
    { rule: 'pair', at: ['annhere'] },
    { rule: 'pair', at: ['ann'] },
  ]
  for (const other of others) assert.is(await wait([other]), null)
  await close()
})

test('a right one ends the wait at its address, and takes back no more than itself elsewhere', async () => {
  const { market, wait, close } = await open()
  const pair: GuessTarget = { rule: 'pair', at: ['ann', 'here'] }
  const account: GuessTarget = { rule: 'strangers', at: ['ann'] }
  for (let n = 0; n < guessing.rules.pair.free - 1; n++) await wait([pair])
  for (let n = 0; n < guessing.rules.strangers.free - 2; n++) await wait([account])
  await (await guess(market, [pair, account])).right()
  for (let n = 0; n < guessing.rules.pair.free; n++) assert.is(await wait([pair]), null)
  assert.ok(await wait([pair]))
  for (let n = 0; n < 2; n++) assert.is(await wait([account]), null)
  assert.ok(await wait([account]))
  await close()
})

test('the first guesses of a network have turns that networks which go on guessing can not take', async () => {
  const { market, wait, close } = await open()
  const from = (address: string) => wait(fromUnknown('ann', address))
  const { newcomers, strangers } = guessing.rules
  const turns = guessing.newcomerTurns
  const used = async (rule: GuessTarget['rule'], free: number) => {
    for (let n = 0; n < free; n++) await wait([{ rule, at: ['ann'] }])
    return wait([{ rule, at: ['ann'] }])
  }
  assert.is(await used('strangers', strangers.free), strangers.baseMs / 1000)
  for (let n = 0; n < turns; n++) assert.is(await from(`198.51.100.${n}`), null, 'whatever its address')
  assert.ok(await from('198.51.100.200'), 'its turns are over')
  for (const address of ['198.51.101.1', '2001:db8:7:1::/64']) assert.is(await from(address), null)
  for (let n = 2; n <= turns; n++) assert.is(await from(`2001:db8:7:${n}::/64`), null, 'a /48 is one network')
  assert.ok(await from('2001:db8:7:99::/64'))
  assert.is(await (await guess(market, fromUnknown('ann', '2001:db8:8:1::/64'))).right(), undefined)
  for (let n = turns + turns + 1; n < newcomers.free; n++) await wait([{ rule: 'newcomers', at: ['ann'] }])
  assert.is(await from('192.0.2.1'), newcomers.baseMs / 1000, 'all networks together wait too')
  await close()
})

test('what is forgiven is forgotten, at whatever it was aimed', async () => {
  const { market, wait, close } = await open()
  const targets: GuessTarget[] = rules.map(([rule]) => ({ rule, at: ['ann'] }))
  for (const target of targets) while ((await wait([target])) === null);
  await forgive(market, targets.slice(1))
  assert.ok(await wait([targets[0]!]))
  for (const target of targets.slice(1)) assert.is(await wait([target]), null)
  await close()
})

test('a clock that was set back makes nobody wait for longer than the rule allows', async () => {
  const { market, world, wait, close } = await open()
  const { free, baseMs, capMs } = guessing.rules.pair
  const targets: GuessTarget[] = [{ rule: 'pair', at: ['ann'] }]
  for (let n = 0; n < free; n++) await wait(targets)
  const now = world.now()
  const back = (ms: number) => ({ ...market, world: { ...world, now: () => now - ms } })
  const waits = async (ms: number) =>
    await guess(back(ms), targets).then(
      () => 'none',
      () => 'waits',
    )
  assert.is(await waits(capMs - baseMs), 'waits')
  assert.is(await waits(capMs - baseMs + 1), 'none')
  await close()
})

test('announced alone, a guess that comes too early is let through and told of; what is in time is not', async () => {
  const { world, logged, wait, close } = await open('warn')
  const targets: GuessTarget[] = [{ rule: 'pair', at: ['ann'] }]
  for (let n = 0; n < guessing.rules.pair.free; n++) assert.is(await wait(targets), null)
  assert.equal(logged, [])
  assert.is(await wait(targets), null)
  const early = (ms: number) => ({
    type: 'warning',
    message: `An attempt at a password or code came ${ms} ms too early`,
  })
  assert.equal(logged, [early(30_000)])
  world.tick(29_999)
  assert.is(await wait(targets), null)
  assert.equal(logged, [early(30_000), early(1)])
  await close()
})

test('without limits nothing is counted', async () => {
  const { market, logged, wait, close } = await open('off')
  const targets: GuessTarget[] = [{ rule: 'pair', at: ['ann'] }]
  for (let n = 0; n < 3 * guessing.rules.pair.free; n++) assert.is(await wait(targets), null)
  await forgive(market, targets)
  await (await guess(market, targets)).right()
  assert.equal(logged, [])
  const strict = { ...market, config: { ...market.config, rateLimits: 'strict' as const } }
  await guess(strict, targets)
  await close()
})

test.run()
