// engines: embedded; process: own
/** An agent of `dev --run` that ends in the midst of work: what is told of it, and by whom. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DiagnosisRecord } from '../../src/api/diagnosis/record.ts'
import { createClient } from '../../src/client/typed-client.ts'
import { devOf } from '../cli/dev-lines.ts'
import { run } from '../cli/program.ts'
import { until } from '../support/patience.ts'
import { saidTwice } from '../support/said-twice.ts'
import { shellLine } from '../support/shell-line.ts'

const test = suite('dying agents')

const DYING = `
  const { createHmac } = require('node:crypto')
  const { createServer } = require('node:http')
  const secret = process.env.MARKETPLACE_WEBHOOK_SECRET
  createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const signatureOf = (time, text) => createHmac('sha256', secret).update(time + '.').update(text).digest('hex')
    const { 'x-service-timestamp': sentAt, 'x-service-signature': given } = request.headers
    if (signatureOf(sentAt, body) !== given) return response.writeHead(401).end()
    response.writeHead(200).end()
    const { data } = JSON.parse(body)
    if (!data.test) {
      console.error('out of ideas')
      return setTimeout(() => process.exit(7), 300)
    }
    const answer = JSON.stringify({ action: 'accept', taskId: data.taskId })
    const time = String(Date.now())
    const headers = { 'X-Service-Timestamp': time, 'X-Service-Signature': signatureOf(time, answer) }
    fetch(data.callbackUrl, {
      method: 'POST', body: answer, headers: { ...headers, 'Content-Type': 'application/json' },
    }).catch(console.error)
  }).listen(Number(process.env.PORT))
`

test('an agent of dev --run that ends in the midst of work is told with its exit code and its last words', async () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-dying-'))
  writeFileSync(join(place, 'agent.cjs'), DYING)
  const own = await devOf(place, ['--run', shellLine(process.execPath, 'agent.cjs')])
  await own.said(/can be hired/)
  const agent = own.ready.agents.find(({ forwardTo }) => forwardTo)!
  // Nobody waits for it, however long a buyer would.
  const hired = await run(['simulate', 'buyer', agent.slug, '--timeout', '3600'], place)
  assert.is(hired.code, 1, hired.err)
  const words = /ended with exit code 7 before it had done its work\. Its last words: out of ideas/
  assert.match(hired.err, /^The agent can't accept: The agent took task\.submitted with 200, and ended /m)
  const [, taskId = ''] = /\b(task_[0-9a-f]{32}) is pending/.exec(hired.err) ?? []
  const client = createClient({ baseUrl: own.ready.url, apiKey: own.ready.accounts.builder!.apiKey })
  const found = (await client.diagnoseTask({ id: taskId })).diagnosis!
  assert.equal([found.cause, found.certainty], ['died_at_work', 'sure'])
  assert.match(found.text, words)
  assert.equal(found.commands, [`deliveries resend ${found.evidence.deliveryId}`])
  assert.is((await client.getMyAgent({ id: agent.id })).diagnosis?.text, found.text)
  const logged = await own.until('its end in the log', line => line.taskId === taskId && line.type === 'warning')
  assert.equal((logged.diagnosis as DiagnosisRecord).text, found.text)
  const { code, out } = await run(['why', agent.slug], place)
  assert.is(code, 3, out)
  for (const printed of [hired.err, out, (await run(['agents', 'show', agent.slug], place)).err]) {
    assert.match(printed, words)
    assert.match(printed, `deliveries resend ${found.evidence.deliveryId}`)
    assert.equal(saidTwice(printed, found.fix), [], printed)
  }
  await own.stop()
  rmSync(place, { recursive: true, force: true })
})

test('an agent of dev --run that ends before it listens is told so too, without its stack, until it is started anew', async () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-dying-'))
  const path = join(place, 'agent.cjs')
  writeFileSync(path, 'setTimeout(() => {}, 3_600_000)')
  const own = await devOf(place, ['--run', shellLine(process.execPath, 'agent.cjs'), '--watch', '.'])
  const { slug } = own.ready.agents.find(({ forwardTo }) => forwardTo)!
  const words =
    / The agent ended with exit code 1\. Its last words: RangeError: out of ideas\. It starts anew when a watched file changes\./
  const why = async () => (await run(['why', slug], place)).out
  await until('that nothing listens', async () =>
    /Nothing listens at \S+\. (?:Start the agent|The agent runs)/.test(await why()),
  )
  writeFileSync(path, "const idea = () => { throw new RangeError('out of ideas') }\nidea()")
  await until('its end', async () => words.test(await why()), 100)
  writeFileSync(path, 'setTimeout(() => {}, 3_600_000)')
  await until(
    'its new start',
    async () => /Nothing listens at \S+\. (?:Start the agent|The agent runs)/.test(await why()),
    100,
  )
  await own.stop()
  rmSync(place, { recursive: true, force: true })
})

test.run()
