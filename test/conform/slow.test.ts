// engines: embedded; process: own; lengths: short, long
/** Agents whose work takes long: they are spared what no check looks at, and nothing is overlooked by that. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { run, scenariosFor } from '../../src/conform/run.ts'
import { isLong } from '../support/length.ts'
import { mutants } from './mutants/index.ts'
import { byHand } from './mutants/right-agents.ts'
import { faultsOf, reported, trialOf, usuallyDeclared } from './mutants/trial.ts'

const SLOWLY = ['--style', 'works-slowly']
const tried = isLong ? checks : checks.filter(({ id }) => /^(?:sig|who|bytes)\./.test(id))
const scenarios = scenariosFor(tried)

test('a slow agent that does everything right passes, and works on little of it', async () => {
  const command = `exec ${byHand(...SLOWLY)}`
  const history = await run({ url: null, secret: null, command, declared: usuallyDeclared, seed: 1, scenarios })
  const lost = judge(tried, history).filter(
    ({ verdict }) => verdict === 'fail' || verdict === 'behind' || verdict === 'inconclusive',
  )
  assert.equal(lost, [])
  const tasks = history.of('task')
  const isCancelled = (taskId: string) => history.stepsOf(taskId).some(({ trigger }) => trigger === 'cancel')
  // It never hears of some, as they come in ways that it need not understand.
  const spared = tasks.filter(({ isSpared, taskId }) => isSpared && isCancelled(taskId))
  assert.ok(spared.length > tasks.length / 4, `${spared.length} of ${tasks.length}`)
  for (const { taskId, label, price } of spared) {
    const steps = history.stepsOf(taskId).map(({ trigger }) => trigger)
    assert.equal(steps.includes('accept') || steps.includes('deliver'), false, label)
    const worked = history.callbacksOf(taskId).filter(({ action }) => action === 'deliver')
    assert.equal(worked, [], label)
    // What was held is the buyer's again.
    const moved = (move: string) =>
      history.moneyOf(taskId).reduce((sum, one) => sum + (one.move === move ? one.amount : 0), 0)
    assert.is(moved('refund'), price, label)
  }
})

const few = ['expects-key-order', 'knows-all-tiers', 'needs-delivery-id']
const more = [
  ...['one-at-a-time', 'loses-a-burst', 'needs-length', 'few-headers', 'adds-up-strings', 'title-of-letters'],
  ...['sells-to-users-alone', 'time-in-whole-seconds', 'base-price-alone', 'needs-requirements', 'limit-of-100-KB'],
  ...['notes-refused', 'keeps-old-secrets', 'ends-of-a-cut-body', 'one-task-for-each-buyer', 'works-although-refused'],
]

test('a bug is seen in a slow agent as in a quick one', async () => {
  const names = isLong ? [...few, ...more] : few
  const chosen = mutants.filter(({ bug }) => names.includes(bug))
  assert.is(chosen.length, names.length)
  const found: string[] = []
  const lane = async () => {
    for (let mutant = chosen.shift(); mutant; mutant = chosen.shift()) {
      const trial = trialOf(mutant)
      const { checks } = await reported({ ...trial, command: [trial.command, ...SLOWLY].join(' ') })
      found.push(...faultsOf(mutant, checks).map(fault => `${mutant.bug}: ${fault}`))
    }
  }
  await Promise.all([lane(), lane(), lane()])
  assert.equal(found, [])
})

test.run()
