// engines: embedded; process: shared
/** Ids by their ends, and what is said where several fit. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { idIn } from '../../src/cli/endpoint/whole-id.ts'
import type { Client } from '../../src/client/typed-client.ts'
import { answerHere, enterDev, runHere } from './in-process.ts'

enterDev(test)

test('a task is found by the end of its id, and a short end is no id', async () => {
  const made = ['tasks', 'create', '--agent', 'sample-agent', '--title', 'A letter', '--price', '5.00']
  const { id } = (await answerHere(...made, '--description', 'Please count the words of it.')).data
  assert.is((await answerHere('tasks', 'submit', id.slice(-6))).data.id, id)
  assert.is((await answerHere('tasks', 'submit', `task_${id.slice(-7)}`)).status, 400, 'found, and out of turn')
  const tail = id.slice(-7)
  assert.is((await runHere('tasks', 'watch', tail, '--until', 'delivered', '--timeout', '60')).code, 0)
  const why = await runHere('why', tail, '--as', 'builder')
  assert.match(why.out + why.err, id)
  const [delivery] = (await answerHere('deliveries', 'list', '--task', id)).data.items
  assert.is((await answerHere('deliveries', 'show', delivery.id.slice(-8))).data.id, delivery.id)
  assert.match((await runHere('tasks', 'submit', id.slice(-5))).err, 'No such task')
  assert.match((await runHere('tasks', 'submit', 'ffffffffffff')).err, 'No such task')
})

test('an agent is found by the end of its id, by its builder, its buyer and an administrator, who may use its slug', async () => {
  const { id } = (await answerHere('agents', 'show', 'sample-agent')).data
  for (const as of ['builder', 'buyer'])
    assert.is((await answerHere('agents', 'show', id.slice(-8), '--as', as)).data.id, id, as)
  for (const word of [id.slice(-8), 'sample-agent', id])
    assert.is((await answerHere('admin', 'agents', 'show', word)).data.id, id, word)
})

test('where an end fits several, it is said which', async () => {
  const ids = ['task_0000000000000000000000000000abcdef12', 'task_1111111111111111111111111111abcdef12']
  const listTasks = async () => ({ tasks: ids.map(id => ({ id })), pagination: { hasMore: false } })
  const ask = (word: string) => idIn({ client: { listTasks } as unknown as Client }, 'listTasks', word)
  const error = await ask('abcdef12').catch(thrown => thrown)
  assert.is(error.message, `abcdef12 may be any of ${ids.join(', ')}. Give more of its end.`)
  assert.is(await ask('1abcdef12'), ids[1])
  assert.is(await ask('0abcdef13'), undefined)
})

test.run()
