// engines: embedded; process: own; lengths: short, long
/** Bugs are seen by the check that is about them, and by no other. `npm run test:mutants` tries all. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { isLong } from '../support/length.ts'
import { mutants } from './mutants/index.ts'
import type { Mutant } from './mutants/mutant.ts'
import { byHand } from './mutants/right-agents.ts'
import { faultsOf, reported, SEED, trialOf } from './mutants/trial.ts'

/** From four areas. */
const few = ['skew-of-an-hour', 'no-dedupe', 'delivers-without-accepting', 'time-in-seconds']
/** From each area. */
const more = [
  'answers-202',
  'verifies-only-if-signed',
  'needs-delivery-id',
  'knows-all-events',
  'asks-for-the-state',
  'thanks-for-copies',
  'sends-a-draft',
  'works-anew-when-cut',
  // They end of what a history does not have: how a connection was closed, and what is too long for it.
  'ends-of-closed-connections',
  'ends-of-long-bodies',
  'ignores-sigterm',
]

const AT_ONCE = 4
const names = isLong ? [...few, ...more] : few
const chosen = mutants.filter(({ bug }) => names.includes(bug))

/** What nothing could be told of, as the machine stood still, is played again. */
const TRIES = 3
async function faultsSeen(mutant: Mutant): Promise<readonly string[]> {
  let faults: readonly string[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    faults = faultsOf(mutant, (await reported(trialOf(mutant))).checks)
    if (!faults.some(fault => fault.includes('inconclusive'))) break
  }
  return faults
}

test('each bug is seen by the check that is about it, and by no other', async () => {
  const left = [...chosen]
  const found: string[] = []
  // Side by side, as a run waits most of its time.
  const lane = async () => {
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const { bug } = mutant
      const faults = await faultsSeen(mutant)
      found.push(...faults.map(fault => `${bug}: ${fault}`))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  assert.is(chosen.length, names.length)
  assert.equal(found, [])
})

// The short form of this is test/conform/run.test.ts.
if (isLong) {
  test('the right agent fails nothing, and each check has one verdict', async () => {
    const { checks: verdicts } = await reported({ command: byHand(), wanted: null, seed: SEED })
    assert.equal(
      verdicts.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'untested'),
      [],
    )
    assert.equal(
      verdicts.map(({ id }) => id),
      checks.map(({ id }) => id),
    )
  })
}

test.run()
