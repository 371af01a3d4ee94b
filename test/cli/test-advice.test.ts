// engines: embedded; process: shared
/** Each way in which a connection test fails has advice of its own, in words that the report really has. */

import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { faultText } from '../../src/api/signature.ts'
import { adviceOn } from '../../src/cli/connection/test-advice.ts'
import { describeStatus } from '../../src/market/webhooks/attempt.ts'
import { createWorld } from '../../src/world/real.ts'

const agent = { slug: 'my-agent', webhookUrl: 'https://localhost:1/webhook' }
const adviceFor = (message: string) => adviceOn({ name: 'endpoint', message }, agent)
const GENERAL = adviceFor('something else')

const statuses: [status: number, advice: RegExp][] = [
  [401, /did not accept the signature.*marketplace verify/],
  [403, /did not accept the signature/],
  [404, /Look at the path/],
  [405, /Look at the path/],
  [400, /did not understand the body/],
  [413, /larger bodies/],
  [500, /The agent failed/],
  [204, /exactly 200/],
  [302, /Save the URL that it leads to/],
]

test('where the agent is reached is only said if it is known', () => {
  assert.match(GENERAL, /Alone: .* --to https:\/\/localhost:1\/webhook /)
  const unknown = adviceOn({ name: 'endpoint', message: 'something else' }, { slug: 'my-agent', webhookUrl: null })
  assert.not.match(unknown, /https:|Alone/)
})

test('an endpoint that answers: by its status', () => {
  for (const [status, advice] of statuses) assert.match(adviceFor(`The endpoint ${describeStatus(status)}`), advice)
})

test('an endpoint that does not answer: by what happened', async () => {
  const { egress } = createWorld({ requireHttps: true, allowLoopback: true })
  const silent = createServer(socket => socket.on('error', () => {}).once('data', () => socket.end('no tls here')))
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const messageOf = async (url: string) => {
    const result = await egress.post({ url, body: '{}', headers: {}, timeoutMs: 2_000, maxResponseBytes: 100 })
    return result.ok ? `answered ${result.status}` : result.message
  }
  assert.match(adviceFor(await messageOf('https://127.0.0.1:1/')), 'Start the agent')
  assert.match(adviceFor(await messageOf(`https://127.0.0.1:${port}/`)), 'Does the agent speak https')
  assert.match(adviceFor(await messageOf('https://no-such-name.invalid/')), 'Look at the name')
  assert.match(adviceFor(await messageOf('https://10.0.0.1/')), 'This address is not allowed')
  assert.match(adviceFor(await messageOf('https://user:word@127.0.0.1/')), 'Correct the URL')
  silent.close()
  await egress.close()
})

test('every failure that the way out has words for has advice of its own', () => {
  const files = ['connect', 'egress', 'outgoing-post'].map(name => readFileSync(`src/world/egress/${name}.ts`, 'utf8'))
  const messages = files
    .flatMap(text => [...text.matchAll(/(?:ConnectError|\.fail)\(\s*'(\w+)',\s*['`]([^`']+)['`][),]/g)])
    .map(([, reason, words]) => [reason, words!.replaceAll(/\$\{[^}]*\}/g, '1')] as const)
  assert.ok(messages.length > 10)
  const general = messages.filter(([, words]) => adviceFor(words) === GENERAL)
  // What nobody waits for any more needs none.
  assert.equal(
    general.map(([, words]) => words),
    ['Nobody waits for this connection any more.'],
  )
})

test('a callback: by what was wrong with it', () => {
  const advice = (message: string) => adviceOn({ name: 'callback', message }, agent)
  assert.match(advice('No callback arrived within 15 seconds'), 'Does it reach that address')
  for (const fault of ['stale', 'future']) assert.match(advice(faultText(fault)), 'Set the clock')
  assert.match(advice(faultText('mismatch')), 'In dev this check says what was signed instead')
  const explained = `A callback with an invalid signature arrived: ${faultText('stale')}. The timestamp is late. Set the clock.`
  assert.match(advice(explained), /^Then once more: .+ test-connection my-agent$/)
})

test.run()
