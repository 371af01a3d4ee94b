// engines: embedded, postgres at length; process: shared
/** Attempts that the database does not note at first, or never. Source. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dispatch } from '../../../src/api/dispatch.ts'
import { retryScheduleMs } from '../../../src/api/limits.ts'
import { answered } from '../../../src/world/virtual.ts'
import { engine } from '../../support/databases.ts'
import { until } from '../../support/patience.ts'
import { refusingTx } from '../../support/refusing-tx.ts'
import { ticking } from '../../support/ticking.ts'
import { openBeforeEach, type State, states, submitted } from './dispatch-state.ts'

const test = suite<State>('refused notes')
openBeforeEach(test)

test('an attempt that the database refuses to note is told in the log and noted later, and its webhook is sent once', async state => {
  const { marketplace, agent, logged } = state
  const { db } = marketplace.market
  await db.write(tx => tx.run('ALTER TABLE attempts RENAME TO lost_attempts'))
  await submitted(state)
  const told = () => logged.filter(line => line.type === 'error' && line.message.includes('could not be noted')).length
  await until('the word in the log', () => told() > 0)
  assert.is(told(), 1)
  assert.is((await fetch(`${marketplace.url}/readyz`)).status, 200)
  await db.write(tx => tx.run('ALTER TABLE lost_attempts RENAME TO attempts'))
  await ticking(marketplace, 'the note', async () => (await states(state))[0] === 'delivered')
  assert.equal([await states(state), agent.sink.received.length], [['delivered'], 1])
})

test('an attempt whose note is never taken is sent no more often than the schedule has attempts', async state => {
  const { marketplace, agent } = state
  const { db } = marketplace.market
  await db.write(tx => tx.run('ALTER TABLE attempts RENAME TO lost_attempts'))
  await submitted(state)
  await until('the webhook', () => agent.sink.received.length > 0)
  for (let minutes = 0; minutes < 15; minutes++) {
    await new Promise(resolve => setTimeout(resolve, 30))
    marketplace.world.tick(dispatch.leaseMs + 1_000)
  }
  await new Promise(resolve => setTimeout(resolve, 100))
  const most = engine === 'embedded' ? 1 : retryScheduleMs.length + 1
  assert.ok(agent.sink.received.length >= 1 && agent.sink.received.length <= most, `${agent.sink.received.length}`)
  await db.write(tx => tx.run('ALTER TABLE lost_attempts RENAME TO attempts'))
})

test('an answer that can’t be written is noted without its words', async state => {
  const { marketplace, agent } = state
  const { db } = marketplace.market
  const write = db.write.bind(db)
  db.write = work => write(tx => work(refusingTx(tx, (_, values) => values.includes('poison'))))
  agent.sink.answer = () => answered(200, 'poison')
  await submitted(state)
  await ticking(marketplace, 'the note', async () => (await states(state))[0] === 'delivered')
  assert.equal([await states(state), agent.sink.received.length], [['delivered'], 1])
})

test('an attempt that is noted although the database gave no answer is not noted twice, and the next one is made', async state => {
  const { marketplace, agent, logged } = state
  const { db } = marketplace.market
  const write = db.write.bind(db)
  const lost = new Error('the answer was lost')
  let losses = 0
  db.write = async work => {
    let isNote = false
    const done = await write(tx =>
      work(
        refusingTx(tx, sql => {
          if (sql.includes('INSERT INTO attempts')) isNote = true
          return false
        }),
      ),
    )
    if (isNote && losses++ === 0) throw lost
    return done
  }
  agent.sink.answer = () => answered(losses === 0 ? 500 : 200)
  await submitted(state)
  await ticking(marketplace, 'the next attempt', async () => (await states(state))[0] === 'delivered')
  // The row is there a little before whoever has written it hears so.
  await until('the second note', () => losses > 1)
  assert.is(losses, 2)
  const told = logged.flatMap(line => (line.type === 'error' ? [line.message] : []))
  assert.is(told.length, 1, told.join(', '))
  assert.match(told[0]!, /could not be noted: the answer was lost/)
  const attempts = await db.read(q => q.all('SELECT attempt, status FROM attempts ORDER BY attempt'))
  assert.equal(attempts, [
    { attempt: 1, status: 500 },
    { attempt: 2, status: 200 },
  ])
})

test('what an agent said is kept when the database refuses it once, and so is why there was no answer', async state => {
  const { marketplace, agent } = state
  const { db } = marketplace.market
  const write = db.write.bind(db)
  let refusals = 0
  const refuse = (most: number, word: string) => {
    refusals = 0
    const isRefused = (_: string, values: readonly unknown[]) => values.includes(word) && refusals++ < most
    db.write = work => write(tx => work(refusingTx(tx, isRefused)))
  }
  const attempts = () =>
    db.read(q => q.all<{ answer: string | null; message: string }>('SELECT answer, message FROM attempts'))
  refuse(1, 'some words')
  agent.sink.answer = () => answered(200, 'some words')
  await submitted(state)
  await ticking(marketplace, 'the note', async () => (await states(state))[0] === 'delivered')
  assert.equal([refusals, (await attempts()).map(({ answer }) => answer)], [2, ['some words']])
  refuse(2, 'unwritable')
  agent.sink.answer = async () => ({ ok: false, reason: 'timeout', message: 'unwritable', durationMs: 1 })
  await submitted(state)
  await ticking(marketplace, 'the other note', async () => (await attempts()).length === 2)
  assert.is((await attempts())[1]!.message, 'What happened could not be written down')
})

test.run()
