// engines: embedded; process: shared
/** `marketplace emit --fault`: what goes wrong on the way is seen by the agent, and judged. */
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { faultNames, faults } from '../../src/api/faults.ts'
import { agentHandler, signCallback } from '../../src/client/webhooks.ts'
import { EmitAgent } from './emit-agent.ts'
import { withWait } from './longer-wait.ts'
import { answerOf, run } from './program.ts'

const SECRET = 'whsec_c2VjcmV0IG9mIGEgdGVzdA=='
const lone = faultNames.filter(name => faults[name].alone)

const agent = new EmitAgent()
const { requests } = agent

const right = () =>
  agentHandler({
    secret: SECRET,
    onError: () => {},
    async onTask(_event, reply) {
      await reply.accept()
      await reply.deliver('Done.')
    },
  })

/** Works on whatever comes, and gives up at once. */
const naive: http.RequestListener = async (request, response) => {
  const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
  response.end()
  for (const fields of [
    { action: 'accept', taskId: data.taskId },
    { action: 'deliver', taskId: data.taskId, content: 'Done.' },
  ]) {
    const sent = await fetch(data.callbackUrl, { method: 'POST', ...signCallback(SECRET, fields) }).catch(() => null)
    if (!sent?.ok) return
  }
}

test.before(() => agent.listen())

test.before.each(() => {
  agent.handle = right()
  requests.length = 0
})

test.after(() => agent.close())

const args = (...flags: string[]) => ['emit', 'task.submitted', '--to', agent.url, '--secret', SECRET, ...flags]
const here = (...flags: string[]) => run(args(...flags), tmpdir())
const signatures = () => requests.map(({ headers }) => headers['x-service-signature'])

test('an agent of the toolkit keeps to what is right whatever goes wrong', async () => {
  const { code, out, err } = await here('--fault', 'all', '--strict')
  assert.is(code, 0, out + err)
  const rows = out.trimEnd().split('\n')
  assert.equal(
    rows.map(row => row.split(/ {2,}/).toSpliced(3, 1)),
    lone.map(name => ['✔', name, '200', faults[name].does]),
  )
  assert.match(err, `\n${lone.length} of ${lone.length} as they should be.\n`)
})

test('the agent gets a copy byte for byte, and after a lost answer the next attempt', async () => {
  const copied = await here('--fault', 'copy', '--wait', '1s')
  assert.is(copied.code, 0, copied.out)
  assert.match(copied.err, `fault: copy: the webhook: ${faults.copy.does}`)
  assert.is(requests.length, 2)
  assert.is(new Set(signatures()).size, 1)

  requests.length = 0
  assert.is((await answerOf(args('--fault', 'answer-lost', '--wait', '1s'), tmpdir())).data.fault, 'answer-lost')
  assert.is(new Set(signatures()).size, 2)
  assert.equal(
    requests.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2'],
  )
  assert.is(new Set(requests.map(({ headers }) => headers['x-service-delivery-id'])).size, 1)
})

test('one that works on each copy, or gives up, is seen', async () => {
  agent.handle = naive
  for (const fault of ['copy', 'copy-at-once', 'answer-lost']) {
    const twice = /✖ (?:accept|deliver): 400/
    const ask = (wait: string) => here('--fault', fault, '--wait', wait)
    const { code, out } = await withWait('1s', ask, said => twice.test(said.out))
    assert.is(code, 3, `${fault}: ${out}`)
    assert.match(out, twice)
  }
  for (const fault of ['response-lost', 'bad-gateway', 'unavailable', 'too-many']) {
    const { code, out } = await here('--fault', fault, '--wait', '1s', '--strict')
    assert.is(code, 3, `${fault}: ${out}`)
    assert.match(out, /! no (?:accept|delivery)/)
  }
})

test('--fault excludes the other kinds, and knows its own', async () => {
  assert.match((await here('--fault', 'copy', '--forge', 'all')).err, '--forge, --dress and --fault exclude each other')
  assert.match((await here('--fault', 'copy', '--dry-run')).err, 'it takes no --dry-run')
  const unknown = await here('--fault', 'overtaken')
  assert.is(unknown.code, 2)
  assert.match(unknown.err, `one of: ${lone.join(', ')}`)
})

test.run()
