// engines: embedded; process: own; lengths: long
/** A crowd of buyers with a real agent: every character comes to an end of its own, every cent is there, and a seed tells the same stories. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { simulate } from '../../../src/conform/crowd-of-buyers.ts'
import { personas } from '../../../src/sim/buyers/personas.ts'

const DAY_MS = 86_400_000
/** Of this seed every character comes among the first forty. */
const SEED = 67
const TASKS = 1_000
const crowd = (seed: number, tasks: number) =>
  simulate({
    ...{ url: null, secret: null, command: 'node examples/node-agent.mjs', buyers: 34, tasks, seed },
    ...{ mix: personas.map(persona => ({ persona, share: 1 })), forMs: (tasks / 14) * DAY_MS, patienceMs: 10_000 },
  })

type Told = Awaited<ReturnType<typeof simulate>>
const told = ({ lives }: Told) => lives.map(({ number, persona, story, end }) => ({ number, persona, story, end }))

/** What must be in the story of each, in this order. */
const words: Readonly<Record<string, readonly RegExp[]>> = {
  easy: [/^hires the agent for 5\.00$/, /^accept$/, /^deliver$/, /^approves, with [45] of 5$/],
  talkative: [
    /^writes: (“.+” ?){3}$/,
    /^accept$/,
    /^deliver$/,
    /^asks for/,
    /^writes: (“.+” ?){2}$/,
    /^deliver$/,
    /^writes: “Thank you!” “Thank you!”$/,
  ],
  'agent-buyer': [/^hires the agent for 5\.00$/, /^accept$/, /^deliver$/, /^approves/],
  suspended: [
    /^the administrator suspends its account$/,
    /^deliver$/,
    /^hires again$/,
    /^is refused: This account is suspended/,
    /^approves/,
  ],
  banned: [
    /^the administrator bans its account$/,
    /^deliver$/,
    /^approves/,
    /^is refused: This account is banned$/,
    /^the administrator settles the task: release$/,
  ],
  'too-late': [
    /^approves/,
    /^disputes/,
    /^is refused: A completed task can be disputed for 48 hours/,
    /^asks for/,
    /^is refused: A task that is completed/,
    /^rests$/,
  ],
  'never-pleased': [
    /^asks for/,
    /^asks for/,
    /^asks for/,
    /^deliver$/,
    /^asks for/,
    /^is refused: All 3 revisions/,
    /^disputes/,
    /^the administrator/,
  ],
}

function assertInOrder(story: readonly string[], wanted: readonly RegExp[], whose: string): void {
  let at = 0
  for (const pattern of wanted) {
    while (at < story.length && !pattern.test(story[at]!)) at++
    assert.ok(at++ < story.length, `${whose}: ${pattern} is not in its place in ${story.join(' · ')}`)
  }
}

test('each character has its end, the money of all adds up, and the same seed tells the same stories', async () => {
  const first = await crowd(SEED, TASKS)
  assert.equal(first.ledgerFaults, [])
  const ends = new Map<string, Set<string>>()
  for (const { persona, end } of first.lives) ends.set(persona, (ends.get(persona) ?? new Set()).add(end ?? 'none'))
  assert.equal([...ends.keys()].sort(), personas.map(({ name }) => name).sort())
  const content = ['easy', 'picky', 'slow', 'bargainer', 'verbose', 'risky']
  for (const persona of [...content, 'talkative', 'agent-buyer', 'suspended', 'banned', 'too-late'])
    assert.equal([...ends.get(persona)!], ['completed'], persona)
  assert.equal([...ends.get('ghost')!], ['delivered'])
  for (const { persona, story } of first.lives) assertInOrder(story, words[persona] ?? [], persona)
  const held = first.lives.filter(({ end }) => end === 'delivered').length * 500
  assert.is(first.money.held, held)
  assert.is(first.refusedCallbacks, first.cancelledCallbacks, 'nothing but what was cancelled meanwhile')
  assert.ok(first.heartbeats.passed > 12 && first.heartbeats.failed === 0)
  const second = await crowd(SEED, TASKS)
  assert.equal(told(second), told(first))
  assert.equal(second.money, first.money)
  assert.is.not(JSON.stringify(told(await crowd(8, 8))), JSON.stringify(told(first).slice(0, 8)))
})

test('of a flood an hour lets five tasks pass, and the sixth is cancelled as a draft', async () => {
  const { lives, money, ledgerFaults } = await simulate({
    ...{ url: null, secret: null, command: 'node examples/node-agent.mjs', buyers: 1, tasks: 12, seed: 3 },
    ...{ mix: personas.filter(({ name }) => name === 'flooder').map(persona => ({ persona, share: 1 })) },
    ...{ forMs: DAY_MS, patienceMs: 10_000 },
  })
  for (const [n, { story, end }] of lives.entries())
    if (n % 6 === 5) assert.equal([...story.slice(1), end], ['is refused: Too many requests', 'cancels', 'cancelled'])
    else assert.equal([story[1], story[2], end], ['accept', 'deliver', 'completed'])
  assert.equal([ledgerFaults, money.held, money.clearing, money.available], [[], 0, 0, 10 * 500])
})

test.run()
