// engines: embedded; process: own
/** What is advised leads on: to another command than the one that was typed, and to a command where the marketplace names a request. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inCommands } from '../../src/cli/command-line/endpoint-words.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { noteTyped, wasTypedNow } from '../../src/cli/connection/next-steps.ts'
import { code, sources } from '../architecture/sources.ts'
import { enterDev, runHere } from './in-process.ts'

const test = suite('advised lines')
const dev = enterDev(test)

const inWords = (text: string) => inCommands(text, words => `marketplace ${words}`, wholeTable)

test('a request that a refusal names is said as the command that makes it', async () => {
  assert.is(await inWords('begin with POST /api/auth/totp'), 'begin with marketplace account totp begin')
  assert.is(await inWords('first with DELETE /api/auth/totp'), 'first with marketplace account totp remove')
  assert.is(
    await inWords('ban it first (PUT /api/admin/users/{id} with banned: true)'),
    'ban it first (marketplace admin users update USER_ID --ban)',
  )
  assert.is(await inWords('Nothing is at GET /api/nowhere'), 'Nothing is at GET /api/nowhere')
})

test('each request that any refusal names has a command', async () => {
  const named = Object.entries(sources)
    .filter(([path]) => path === 'src/api/failures.ts' || path.startsWith('src/market/'))
    .flatMap(([, text]) => code(text).match(/\b(?:GET|POST|PUT|PATCH|DELETE) \/api\/[\w{}/-]+/g) ?? [])
  assert.ok(named.length >= 5, named.join())
  for (const request of new Set(named)) assert.not.match(await inWords(request), '/api/', request)
})

test('whoever has typed a command is told the next one, and whoever calls the interface its request', async () => {
  const typed = await runHere('account', 'totp', 'confirm', '123456')
  assert.is(typed.err, 'This account has no second factor; begin with marketplace account totp begin.\n')
  const { id } = dev.ready.accounts.buyer
  const purge = await runHere('admin', 'users', 'purge', id, '--yes')
  assert.match(purge.err, 'ban it first (marketplace admin users update USER_ID --ban)')
  const asked = await runHere('call', 'POST', `/api/admin/users/${id}/purge`, '--as', 'admin')
  assert.match(asked.out + asked.err, 'PUT /api/admin/users/{id} with banned: true')
})

test('no command advises what was typed just now: of the same failure it would say the same', async () => {
  const lines = [
    ['test-connection', 'silent-analyst'],
    ['test-connection', 'silent-analyst', '--as', 'builder'],
  ]
  for (const line of lines) {
    const { err } = await runHere(...line)
    assert.not.match(err, 'Next: marketplace test-connection')
    assert.match(err, 'Again: marketplace test-connection silent-analyst')
  }
})

test('the same of another thing, with flags or by another command is advised', () => {
  const afterTyping = (typed: string, advised: string) => {
    noteTyped(typed.split(' '))
    return wasTypedNow(advised)
  }
  assert.ok(afterTyping('test-connection agt_1 --as builder', 'test-connection my-agent'))
  assert.ok(afterTyping('exchanges show exchange_1', 'exchanges show exchange_1'))
  assert.not.ok(afterTyping('why my-agent', 'test-connection my-agent'))
  assert.not.ok(afterTyping('agents update a --webhook-url http://x', 'agents update a --webhook-url https://x'))
  assert.not.ok(afterTyping('deliveries list my-agent', 'deliveries resend dlv_1'))
  assert.not.ok(afterTyping('test-connection', 'test-connection my-agent'))
  assert.not.ok(afterTyping('why', 'fault list'))
})

test.run()
