// engines: embedded; process: own; lengths: short, long
/** Bugs are seen by the check that is about them, and by no other. `npm run test:mutants` tries all. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { isLong } from '../support/length.ts'
import { mutants } from './mutants/index.ts'
import { byHand } from './mutants/right-agents.ts'
import { faultsOf, judged, wantedFor } from './mutants/trial.ts'

const SEED = 1

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
]

for (const name of isLong ? [...few, ...more] : few) {
  test(`an agent with the bug ${name} is seen by the check that is about it, and by no other`, async () => {
    const mutant = mutants.find(({ bug }) => bug === name)!
    const verdicts = await judged({ command: byHand('--bug', name), wanted: wantedFor(mutant), seed: SEED })
    assert.equal(faultsOf(mutant, verdicts), [])
  })
}

// The short form of this is test/conform/run.test.ts.
if (isLong) {
  test('the right agent fails nothing, and each check has one verdict', async () => {
    const verdicts = await judged({ command: byHand(), wanted: null, seed: SEED })
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
