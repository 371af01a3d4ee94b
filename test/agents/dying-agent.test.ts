// engines: embedded; process: own
/** An agent of `dev --run` that ends in the midst of work: what is told of it, and by whom. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DiagnosisRecord } from '../../src/api/diagnosis/record.ts'
import { createClient } from '../../src/client/typed-client.ts'
import { devOf, hire } from '../cli/dev-lines.ts'
import { run } from '../cli/program.ts'
import { until } from '../support/patience.ts'
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
  const taskId = await hire(own, agent.id)
  const client = createClient({ baseUrl: own.ready.url, apiKey: own.ready.accounts.builder!.apiKey })
  let found!: DiagnosisRecord
  await until('its end', async () => {
    const { diagnosis } = await client.diagnoseTask({ id: taskId })
    if (diagnosis) found = diagnosis
    return diagnosis?.cause === 'died_at_work'
  })
  assert.match(found.text, /ended with exit code 7 before it had done its work\. Its last words: out of ideas/)
  assert.equal([found.certainty, found.commands], ['sure', [`deliveries resend ${found.evidence.deliveryId}`]])
  const { code, out } = await run(['why', agent.slug], place)
  assert.is(code, 3, out)
  assert.match(out, 'deliveries resend dlv_')
  await own.stop()
  rmSync(place, { recursive: true, force: true })
})

test.run()
