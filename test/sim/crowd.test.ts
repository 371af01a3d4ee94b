// engines: embedded; process: own
/** A crowd of buyers with a real agent: every character comes to an end of its own, every cent is there, and a seed tells the same stories. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { simulate } from '../../src/conform/simulation.ts'
import { personas } from '../../src/sim/personas.ts'

const DAY_MS = 86_400_000
const crowd = (seed: number, tasks: number) =>
  simulate({
    ...{ url: null, secret: null, command: 'node examples/node-agent.mjs', buyers: 22, tasks, seed },
    ...{ mix: personas.map(persona => ({ persona, share: 1 })), forMs: 3 * DAY_MS, patienceMs: 10_000 },
  })

test('each character has its end, the money of all adds up, and the same seed tells the same stories', async () => {
  const first = await crowd(7, 44)
  assert.equal(first.ledgerFaults, [])
  const ends = new Map<string, Set<string>>()
  for (const { persona, end } of first.lives) ends.set(persona, (ends.get(persona) ?? new Set()).add(end ?? 'none'))
  assert.equal([...ends.keys()].sort(), personas.map(({ name }) => name).sort())
  for (const persona of ['easy', 'picky', 'slow', 'bargainer', 'verbose', 'risky'])
    assert.equal([...ends.get(persona)!], ['completed'], persona)
  assert.equal([...ends.get('ghost')!], ['delivered'])
  for (const { persona, story } of first.lives)
    if (persona === 'never-pleased') assert.is(story.filter(words => words === 'deliver').length, 4)
  const held = first.lives.filter(({ end }) => end === 'delivered').length * 500
  assert.is(first.money.held, held)
  assert.ok(first.heartbeats.passed > 20 && first.heartbeats.failed === 0)
  const second = await crowd(7, 44)
  const told = ({ lives }: typeof first) =>
    lives.map(({ number, persona, story, end }) => ({ number, persona, story, end }))
  assert.equal(told(second), told(first))
  assert.equal(second.money, first.money)
  assert.is.not(JSON.stringify(told(await crowd(8, 8))), JSON.stringify(told(first).slice(0, 8)))
})

test.run()
