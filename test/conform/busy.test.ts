// engines: embedded; process: shared
/** An agent that answers 429 or 503 asks for time: it gets it, and no check blames it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BusyAgent } from '../../src/conform/agent/busy-agent.ts'
import { checks } from '../../src/conform/checks/index.ts'
import type { Answer, Happening } from '../../src/conform/history/history.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { body, historyOf, played, task, webhook } from './made-up.ts'

const answered = (status: number, retryAfter?: string): Answer => ({
  ...{ status, body },
  headers: retryAfter === undefined ? [] : [['Retry-After', retryAfter]],
})

/** Asks an agent with these answers, the last for ever. Returns the last status, and how long was waited after each. */
async function asked(...answers: readonly Answer[]) {
  const agent = new BusyAgent(() => 0.5)
  const pauses: number[] = []
  const send = async (attempt: number) => {
    const answer = answers[attempt - 1] ?? answers.at(-1)!
    agent.heard(answer)
    return { answer }
  }
  const { answer } = await agent.ask(send, async ms => void pauses.push(ms))
  return { status: answer.status, pauses }
}

test('who is not busy is asked once', async () => {
  for (const status of [200, 401, 500]) assert.equal(await asked(answered(status)), { status, pauses: [] })
})

test('a busy agent is asked again after as long as it says, or a little later', async () => {
  const date = new Date(Date.now() + 30_000).toUTCString()
  const { status, pauses } = await asked(answered(429, '20'), answered(503, date), answered(200))
  assert.is(status, 200)
  assert.is(pauses[0], 21_000)
  assert.ok(pauses[1]! > 25_000 && pauses[1]! <= 31_000, `${pauses}`)
})

test('who does not say how long, or says nothing that makes sense, is asked ever less often', async () => {
  for (const header of [undefined, 'soon', '0', '-5'])
    assert.equal(
      (await asked(answered(503, header), answered(503), answered(503), answered(200))).pauses,
      [1_500, 2_250, 3_250],
    )
})

test('what comes together comes apart', async () => {
  const pauseOf = async (chance: number) => {
    const pauses: number[] = []
    const send = async (attempt: number) => ({ answer: answered(attempt === 1 ? 429 : 200, '1') })
    await new BusyAgent(() => chance).ask(send, async ms => void pauses.push(ms))
    return pauses[0]
  }
  assert.equal(await Promise.all([0, 0.25, 0.75].map(pauseOf)), [1_000, 1_250, 1_750])
})

test('who stays busy is asked as often as by the marketplace, and who asks for more than a minute not again', async () => {
  const { status, pauses } = await asked(answered(503))
  assert.is(status, 503)
  assert.is(pauses.length, 7)
  assert.equal(await asked(answered(429, '61')), { status: 429, pauses: [] })
})

function verdictOf(id: string, ...happenings: readonly Happening[]) {
  const check = checks.find(one => one.id === id)!
  const history = historyOf([...happenings, played(check.scenario), { kind: 'quiet', ms: 1 }])
  const [judged] = judge([check], history)
  return judged!.verdict
}

const law = 'http.only-law-headers/interface'
const byHand = (status: number) => webhook(law, status, { change: 'without other headers' })
const unknown = (status: number) => webhook('http.unknown-event', status, { event: 'task.archived' })

const many = (count: number, happening: Happening) => Array.from({ length: count }, () => happening)

test('however often an agent is busy, what it says in the end counts', () => {
  assert.is(verdictOf('http.only-law-headers', task(law), ...many(9, byHand(429)), byHand(200)), 'pass')
  assert.is(verdictOf('http.only-law-headers', task(law), ...many(9, byHand(429)), byHand(400)), 'fail')
  assert.is(verdictOf('http.unknown-event', task('http.unknown-event'), unknown(503), unknown(200)), 'pass')
  assert.is(verdictOf('http.unknown-event', task('http.unknown-event'), unknown(503), unknown(500)), 'warn')
})

test('of an agent that stays busy nothing can be told, whatever it left undone', () => {
  assert.is(verdictOf('http.only-law-headers', task(law), ...many(9, byHand(429))), 'inconclusive')
  assert.is(verdictOf('http.unknown-event', task('http.unknown-event'), unknown(503)), 'inconclusive')
  for (const id of ['rel.not-json', 'rel.cut-body'])
    assert.is(verdictOf(id, webhook(`${id}/next`, 503)), 'inconclusive', id)
  assert.is(verdictOf('http.burst', task('http.burst'), webhook('http.burst', 429)), 'inconclusive')
  assert.is(verdictOf('rel.alive', webhook('rel.alive', 503)), 'inconclusive')
  const test = webhook('conn.endpoint-200', 503, { taskId: 'test_1' })
  assert.is(verdictOf('conn.endpoint-200', test), 'inconclusive')
})

test('what an agent does wrong counts, also if it is busy beside', () => {
  const forged = (label: string, status: number) => webhook(label, status, { change: 'forged', genuine: false })
  const some = [forged('sig.wrong-secret/no-key', 429), forged('sig.wrong-secret/wrong-secret', 200)]
  assert.is(verdictOf('sig.wrong-secret', ...some), 'fail')
})

test.run()
