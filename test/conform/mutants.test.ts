// engines: embedded; process: own
/** The right agent passes every check, and a bug from each area is seen by the check that is about it. `npm run test:mutants` tries all. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { mutants } from './mutants/index.ts'
import { byHand } from './mutants/right-agents.ts'
import { faultsOf, judged, wantedFor } from './mutants/trial.ts'

const SEED = 1

const sample = [
  'answers-202',
  'verifies-only-if-signed',
  'skew-of-an-hour',
  'needs-delivery-id',
  'knows-all-events',
  'no-dedupe',
  'asks-for-the-state',
  'thanks-for-copies',
  'delivers-without-accepting',
  'sends-a-draft',
  'time-in-seconds',
  'works-anew-when-cut',
]

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

for (const name of sample) {
  test(`an agent with the bug ${name} is seen by the check that is about it, and by no other`, async () => {
    const mutant = mutants.find(({ bug }) => bug === name)!
    const verdicts = await judged({ command: byHand('--bug', name), wanted: wantedFor(mutant), seed: SEED })
    assert.equal(faultsOf(mutant, verdicts), [])
  })
}

test.run()
