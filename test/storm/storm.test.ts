// engines: embedded; process: own; lengths: short, long
/** Storms: the whole service under one seed, with its clock, its network and its disk. More of them: npm run test:storm. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { amount, isLong } from '../support/length.ts'
import { bundled, type Change, changed, type Program } from './bundle.ts'
import { mutants } from './mutants.ts'
import { Player, shorter } from './player.ts'

const STEPS = amount({ short: 60, long: 200 })
const SEEDS = amount({ short: 4, long: 75 })

async function playing(change: Change | undefined, work: (player: Player, program: Program) => Promise<void>) {
  const program = await bundled(change)
  const player = new Player(program)
  try {
    await work(player, program)
  } finally {
    await player.close()
    program.remove()
  }
}

test('whatever happens, the promises are kept, and the same seed is the same storm in any process', () =>
  playing(undefined, async (player, program) => {
    const done = new Set<string>()
    const digests: string[] = []
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { broken, digest, good } = await player.play({ seed: String(seed), steps: STEPS })
      assert.is(broken, null, `npm run test:storm -- --seed ${seed} --steps ${STEPS}`)
      for (const [name] of good) done.add(name)
      digests.push(digest)
    }
    assert.is(new Set(digests).size, SEEDS, 'another seed is another storm')
    if (isLong)
      assert.equal(
        Object.keys(endpoints).filter(name => !done.has(name) && !NEVER_GOOD.has(name)),
        [],
      )
    const other = new Player(program)
    const { digest } = await other.play({ seed: String(SEEDS), steps: STEPS })
    await other.close()
    assert.is(digest, digests.at(-1))
  }))

/** What they ask for is not there: exchanges in memory under ids of others. */
const NEVER_GOOD = new Set([
  'getExchange',
  'diagnoseExchange',
  'getConformanceRun',
  'judgeAgent',
  'stopConformanceRun',
  'listMails',
  'clearFault',
  'watchChanges',
  'watchEvents',
  'signInAs',
  'answerAsAgent',
  'setBuyer',
  // They are given one key.
  'rotateSecretKey',
  'testCallback',
])

if (isLong)
  test('a broken promise is found, and its storm made shorter', () =>
    playing(mutants.find(({ name }) => name === 'durability: a batch is not synced')!.change, async player => {
      for (let seed = 1; ; seed++) {
        const played = await player.play({ seed: String(seed), steps: STEPS })
        if (played.broken === null) continue
        const left = await shorter(player, played)
        assert.ok(left.length < played.step / 2, `${left.length} of ${played.step} steps`)
        break
      }
    }))

test('each change that a storm must notice can still be made to the source', () => {
  const texts = mutants.map(({ change }) => changed(change))
  for (const [at, { name, change }] of mutants.entries())
    assert.is.not(texts[at], readFileSync(change.file, 'utf8'), name)
  assert.is(new Set(texts).size, mutants.length, 'no two are the same')
})

test.run()
