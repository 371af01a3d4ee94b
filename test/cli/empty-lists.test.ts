// engines: embedded; process: shared
/** What lists and records are headed with. An empty list says of what there is none, and each command that it names can be typed. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ZodObject } from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { labelsOf } from '../../src/cli/endpoint/view.ts'
import { endpointRows } from './endpoint-rows.ts'
import { answerHere, enterDev, runHere } from './in-process.ts'

enterDev(test)

/** Types the command of a hint as it stands. */
async function type(hint: string) {
  const [, line] = /(?:^|: )marketplace ([^\n]+)$/.exec(hint.trim()) ?? []
  assert.ok(line, hint)
  const { code, err } = await runHere(...line!.split(' '))
  assert.is(code, 0, `${line}: ${err}`)
}

test('every list of a row says what its entries are called, and how the first is made where that can be typed', async () => {
  for (const { name, endpoint, things, first, person } of endpointRows) {
    const { list, path } = endpoints[endpoint] as Endpoint
    assert.is(things !== undefined, Boolean(list) || path === '/api/categories', name)
    if (first) await type(first(` --as ${person}`))
  }
})

test('administrators read of each account in a list whose it is: name and email', () => {
  const lists = endpointRows.filter(
    ({ person, endpoint }) => person === 'admin' && (endpoints[endpoint] as Endpoint).list,
  )
  let named = 0
  for (const { name, endpoint, shows } of lists) {
    const { shape } = (endpoints[endpoint] as Endpoint).reply as ZodObject
    const isPerson = (of: object): of is ZodObject => 'shape' in of && 'email' in (of as ZodObject).shape
    const people = [
      '',
      ...Object.keys(shape)
        .filter(field => isPerson(shape[field]!))
        .map(field => `${field}.`),
    ]
    for (const who of people.filter(who => who !== '' || 'email' in shape)) {
      named++
      assert.equal(
        [`${who}name`, `${who}email`].filter(one => !shows.includes(one)),
        [],
        name,
      )
    }
    assert.equal(
      shows.filter(one => /(?:user|buyer|builder)Id$/.test(one)),
      [],
      name,
    )
  }
  assert.ok(named >= 6, `${named} of ${lists.length}`)
})

test('no two values of a row have one name', () => {
  for (const { name, shows } of endpointRows) {
    const labels = labelsOf(shows)
    assert.equal(labels, [...new Set(labels)], name)
  }
})

test('an empty list tells what there is none of, and by which flags', async () => {
  const letter = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00']
  const all = (line: string) => ` All: marketplace ${line}`
  const told = async (says: string, ...line: string[]) => {
    const { code, out, err } = await runHere(...line)
    assert.is(code, 0, err)
    assert.is(out, '')
    assert.is(err, `${says}\n`, line.join(' '))
    if (says.includes('marketplace ')) await type(says)
  }
  await told('There are no tasks. Whom to hire: marketplace agents search --as buyer', 'tasks', 'list')
  await told(
    `There are no tasks with --status draft --role builder.${all('tasks list --as builder')}`,
    ...['tasks', 'list', '--status', 'draft', '--role', 'builder', '--as', 'builder', '--limit', '5'],
  )
  const task = (await answerHere('tasks', 'create', '--agent', 'sample-agent', ...letter)).data
  await told(
    `There are no tasks with --status draft.${all('tasks list --as builder')}`,
    ...['tasks', 'list', '--status', 'draft', '--sort', 'oldest', '--as', 'builder'],
  )
  await told('Page 2 is behind the last one, 1.', 'tasks', 'list', '--page', '2')
  await told('There are no deliverables of this task.', 'tasks', 'deliverables', task.id)
  await told('There are no messages of this task.', 'tasks', 'messages', task.id)
  await told('There are no reviews of this agent.', 'agents', 'reviews', 'sample-agent')
  await told(
    `There are no agents to hire with --query 'no such words'.${all('agents search --as buyer')}`,
    ...['agents', 'search', '--query', 'no such words'],
  )
  await told(
    `There are no tasks of this buyer for your agents with --agent sample-agent.${all(`buyers history ${task.buyerId} --as builder`)}`,
    ...['buyers', 'history', task.buyerId, '--agent', 'sample-agent'],
  )
  await told(
    'There are no tasks with --disputed. All: marketplace admin tasks --as admin',
    'admin',
    'tasks',
    '--disputed',
  )
  await told(
    `There are no deposits with --status pending.${all('admin deposits list --as admin')}`,
    ...['admin', 'deposits', 'list', '--status', 'pending'],
  )
  await told('There are no authorizations. How to make one: marketplace budgets create --help', ...['budgets', 'list'])
  await told('There are no sessions. How to sign in: marketplace login --help', 'profiles')
})

test('so does the log of webhooks, where a simulated buyer brings the first', async () => {
  const told = async (...line: string[]) => {
    const { code, err } = await runHere('deliveries', ...line)
    assert.is(code, 0, err)
    return err
  }
  const ofAll = await told('list', '--failed', '--since', '1h')
  assert.is(
    ofAll,
    'There are no webhooks to your agents with --failed --since 1h. All: marketplace deliveries list --as builder\n',
  )
  await type(ofAll)
  const resent = await told('resend', '--failed', '--agent', 'sample-agent')
  assert.is(
    resent,
    'There are no failed webhooks to send again with --agent sample-agent. All: marketplace deliveries list --failed --as builder\n',
  )
  await type(resent)
  const ofOne = await told('list', 'sample-agent')
  assert.match(
    ofOne,
    /^There are no webhooks to sample-agent\. A simulated buyer brings some: marketplace simulate buyer/,
  )
  await type(ofOne)
  assert.is(await told('list', 'sample-agent'), '')
})

test.run()
