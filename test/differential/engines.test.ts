// engines: postgres; process: own; lengths: short, long
/**
 * Two marketplaces, one on the embedded engine and one on Postgres, are asked the same, step by step: same answers, same
 * webhooks, same rows. Still more steps: npm run test:differential. Each opens a database of `freshDatabase`.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { amount, isLong } from '../support/length.ts'
import { walk } from './walk.ts'

/** What no engine holds: exchanges, streams, and the accounts that a simulator has made, which are only asked for in vain here. */
const IN_MEMORY = new Set([
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
])

/**
 * Fewer steps don't come to every endpoint. An endpoint more shifts the random steps of all others: eighteen walks missed 20 to
 * 35 of 107 each.
 */
const MISSED = amount({ short: 45, long: 0 })

test('random steps over all endpoints: both engines answer, send and keep the same', async () => {
  const steps = amount({ short: 450, long: 5_000 })
  const { answers } = await walk({
    seed: 'as it was before',
    steps,
    tablesEvery: amount({ short: 225, long: 1_000 }),
  })
  const unanswered = [...answers].filter(([name, { good }]) => good === 0 && !IN_MEMORY.has(name)).map(([name]) => name)
  const unrefused = [...answers].filter(([, { bad }]) => bad === 0).map(([name]) => name)
  const told = `${unanswered.length} of ${answers.size} endpoints never answered with 2xx, and ${MISSED} may`
  assert.ok(unanswered.length <= MISSED, `${told}: ${unanswered.join(', ')}`)
  if (isLong) assert.equal(unrefused, [], 'every endpoint was answered with 4xx')
})

test.run()
