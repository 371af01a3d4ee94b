// engines: embedded; process: own; lengths: short, long
/**
 * What authors get wrong, played by one agent that a switch makes wrong: of each mistake the task, the agent, the log, `why`, the connection
 * test and the delivery name the same cause, in the same words, and each command that they print can be typed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DiagnosisRecord } from '../../src/api/diagnosis/record.ts'
import type { Cause } from '../../src/api/diagnosis/table.ts'
import { sign, signatureHeaders, verify } from '../../src/api/signature.ts'
import { createClient } from '../../src/client/typed-client.ts'
import { devOf, hire } from '../cli/dev-lines.ts'
import { run, runAlone } from '../cli/program.ts'
import { amount } from '../support/length.ts'
import { PATIENCE_MS } from '../support/patience.ts'

type Send = (
  action: string,
  more?: { fields?: object; headers?: Record<string, string>; at?: string | number; path?: string },
) => Promise<number>

interface Webhook {
  readonly body: Buffer
  readonly isTest: boolean
  readonly response: ServerResponse
  readonly request: IncomingMessage
  readonly send: Send
}

interface Mistake {
  readonly does: string
  readonly cause: Cause
  readonly certainty: 'sure' | 'likely'
  /** What the connection test says, where it can see the mistake; the same cause unless given. null: it passes. */
  readonly inTest?: Cause | null
  /** The secret that it verifies with. */
  readonly key?: (secret: string, other: string) => string | Buffer
  readonly bytes?: (body: Buffer) => Buffer
  readonly answer?: (webhook: Webhook) => unknown
  /** In place of accept and deliver. */
  readonly work?: (webhook: Webhook) => Promise<unknown>
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  ({ response }: Webhook) =>
    void response.writeHead(code, headers).end()
const right = status(200)
const deliver: Parameters<Send>[1] = { fields: { deliverable: { content: 'Done.' } } }
const works = async ({ send }: Webhook) => {
  await send('accept')
  await send('deliver', deliver)
}

/** The first ones are played by `npm test`. */
const mistakes: readonly Mistake[] = [
  { does: 'leaves whsec_ out of its secret', cause: 'no_prefix', certainty: 'sure', key: secret => secret.slice(6) },
  { does: 'redirects', cause: 'redirect', certainty: 'sure', answer: status(301, { location: '/webhook/' }) },
  {
    does: 'writes the time of callbacks in seconds',
    cause: 'seconds',
    certainty: 'sure',
    work: ({ send }) => send('accept', { at: Math.floor(Date.now() / 1000) }),
  },
  {
    does: 'works before it answers',
    cause: 'work_before_answer',
    certainty: 'likely',
    inTest: 'work_before_answer',
    async answer(webhook) {
      await works(webhook)
      await pause(900)
      right(webhook)
    },
    work: async () => {},
  },
  {
    does: 'answers and does nothing',
    cause: 'silent',
    certainty: 'likely',
    inTest: 'no_callback',
    work: async () => {},
  },
  { does: 'takes POST at another path', cause: 'wrong_path', certainty: 'likely', answer: status(404) },
  { does: 'takes no POST', cause: 'wrong_method', certainty: 'likely', answer: status(405) },
  { does: 'refuses whatever comes', cause: 'refused_by_agent', certainty: 'likely', answer: status(401) },
  { does: 'fails', cause: 'agent_failed', certainty: 'sure', answer: status(500) },
  { does: 'hangs up', cause: 'cut_off', certainty: 'likely', answer: ({ request }) => void request.socket.destroy() },
  {
    does: 'has the secret of another agent',
    cause: 'other_agents_secret',
    certainty: 'sure',
    key: (_, other) => other,
  },
  {
    does: 'decodes its secret',
    cause: 'decoded_secret',
    certainty: 'sure',
    key: secret => Buffer.from(secret.slice(6), 'base64'),
  },
  {
    does: 'verifies what a parser made of the body',
    cause: 'parsed_body',
    certainty: 'sure',
    bytes: body => Buffer.from(String(JSON.parse(body.toString()))),
  },
  {
    does: 'calls another path back',
    cause: 'wrong_callback_path',
    certainty: 'sure',
    work: ({ send }) => send('accept', { path: '/answer' }),
  },
  {
    does: 'does not say that callbacks are JSON',
    cause: 'bad_callback',
    certainty: 'sure',
    work: ({ send }) => send('accept', { headers: { 'content-type': 'text/plain' } }),
  },
  {
    does: 'delivers what it has not accepted',
    cause: 'not_accepted',
    certainty: 'likely',
    inTest: null,
    work: ({ send }) => send('deliver', deliver),
  },
  {
    does: 'delivers twice',
    cause: 'doubled_callback',
    certainty: 'sure',
    inTest: null,
    async work(webhook) {
      await works(webhook)
      await webhook.send('deliver', { fields: { deliverable: { content: 'Done again.' } } })
    },
  },
  {
    does: 'is too slow for anybody',
    cause: 'slow_answer',
    certainty: 'likely',
    inTest: null,
    answer: webhook => pause(5_500).then(() => right(webhook)),
  },
]

const test = suite('typical mistakes')
const folder = mkdtempSync(join(tmpdir(), 'marketplace-mistakes-'))
let mistake: Mistake | null = null
let secret = ''
let other = ''

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const { key = (own: string) => own, bytes = (raw: Buffer) => raw, answer = right, work = works } = mistake ?? {}
  const used = key(secret, other)
  const signature = request.headers['x-service-signature']
  const timestamp = request.headers['x-service-timestamp']
  const isRight = used === secret && bytes(body).equals(body)
  const isBelieved = isRight
    ? verify({ secret, timestamp, signature, body, now: Date.now() }).ok
    : sign(used as string, Number(timestamp), bytes(body)) === signature
  if (!isBelieved && !mistake?.answer) return void response.writeHead(401).end()
  const { data } = JSON.parse(body.toString())
  const webhook = { body, request, response, isTest: data.test === true, send: sender(data.callbackUrl, data.taskId) }
  const answered = answer(webhook)
  if (answered instanceof Promise) await answered
  if (response.statusCode === 200 && JSON.parse(body.toString()).event === 'task.submitted') await work(webhook)
})

const sender =
  (callbackUrl: string, taskId: string): Send =>
  async (action, { fields = {}, headers = {}, at = Date.now(), path = '' } = {}) => {
    const body = JSON.stringify({ action, taskId, ...fields })
    const signed = { ...signatureHeaders(secret, Number(at), body), 'content-type': 'application/json', ...headers }
    const { status } = await fetch(path ? callbackUrl.replace(/\/callback$/, path) : callbackUrl, {
      method: 'POST',
      headers: signed,
      body,
    })
    return status
  }

let dev: Awaited<ReturnType<typeof devOf>>

test.before(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  dev = await devOf(folder, ['--agent', `my-agent=http://127.0.0.1:${port}/webhook`])
  secret = named('my-agent').webhookSecret
  other = named('sample-agent').webhookSecret
})

test.after(async () => {
  await dev.stop()
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

const named = (name: string) => dev.ready.agents.find(({ slug }) => slug === name)!
const clientAs = (person: string) =>
  createClient({ baseUrl: dev.ready.url, apiKey: dev.ready.accounts[person]!.apiKey })

async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  for (const patience = AbortSignal.timeout(PATIENCE_MS); !patience.aborted; await pause(50)) {
    const found = await look()
    if (found) return found
  }
  throw new Error(`${what} never came`)
}

/** A json answer of a command, whatever its exit code. */
async function told(...words: string[]) {
  const { out, err } = await run([...words, '--json'], folder)
  try {
    return JSON.parse(out).data
  } catch {
    throw new Error(`${words.join(' ')}: ${out}${err}`)
  }
}

for (const one of mistakes.slice(0, amount({ short: 5, long: 100 }))) {
  const { does, cause, certainty, inTest = cause } = one
  test(`an agent that ${does}: everybody names the same cause`, async () => {
    mistake = null
    await until(
      'that it is listed',
      async () => (await clientAs('builder').getMyAgent({ id: named('my-agent').id })).visible,
    )
    mistake = one
    const from = dev.seen()
    const taskId = await hire(dev, named('my-agent').id)
    const diagnosis = await until(`${cause} of the task`, async () => {
      const { diagnosis } = await clientAs('builder').diagnoseTask({ id: taskId })
      return diagnosis?.cause === cause && diagnosis
    })
    assert.is(diagnosis.certainty, certainty)
    const same = (found: DiagnosisRecord | null, who: string) =>
      assert.equal([found?.cause, found?.certainty, found?.fix], [cause, certainty, diagnosis.fix], who)
    same((await told('agents', 'show', 'my-agent')).diagnosis, 'agents show')
    const [item] = (await told('why', taskId)).items
    same(item.diagnosis, 'why')
    const shown = await run(['why', 'my-agent'], folder)
    assert.is(shown.code, 3, shown.out)
    assert.match(shown.out, diagnosis.fix.slice(0, 60))
    assert.ok(shown.out.trim().split('\n').length <= 5, shown.out)
    assert.match((await run(['tasks', 'show', taskId], folder)).err, diagnosis.fix.slice(0, 60))
    if (cause !== 'silent') {
      const isIt = (line: object) => JSON.stringify(line).includes(diagnosis.fix.slice(0, 60))
      await dev.until(`${cause} in the log`, isIt, from)
    }
    await commandsWork(diagnosis)
    const report = await told('test-connection', 'my-agent')
    assert.is(report.diagnosis?.cause ?? null, inTest, JSON.stringify(report))
    mistake = null
    await clientAs('buyer')
      .cancelTask({ id: taskId })
      .catch(() => {})
  })
}

async function commandsWork({ commands }: DiagnosisRecord): Promise<void> {
  for (const command of commands.filter(words => !words.startsWith('dev ') && !words.startsWith('test-connection'))) {
    const { code, err } = await run(command.split(' '), folder)
    assert.ok([0, 1, 3].includes(code ?? -1), `${command}: ${code} ${err}`)
    assert.not.match(err, /unknown|unexpected/i)
  }
}

test('exchanges and the log can be looked at from another terminal, and sent once more', async () => {
  mistake = mistakes.find(({ cause }) => cause === 'redirect')!
  const taskId = await hire(dev, named('my-agent').id)
  const exchange = await until('the exchange', async () => {
    const { items } = await told('exchanges', 'list', '--failed', '--task', taskId)
    return items[0]
  })
  assert.is(exchange.diagnosis.cause, 'redirect')
  const shown = await run(['exchanges', 'show', exchange.id], folder)
  assert.match(shown.out, /\nPOST https:\/\/my-agent\.localhost:\d+\/webhook\n/)
  assert.match(shown.out, /\n301 /)
  assert.match(shown.err, 'Redirects are not followed')
  const raw = await run(['exchanges', 'show', exchange.id, '--raw'], folder)
  assert.is(JSON.parse(raw.out).data.taskId, taskId)
  assert.match((await run(['exchanges', 'list'], folder)).out, 'redirect')
  mistake = null
  const replayed = await told('exchanges', 'replay', exchange.id)
  assert.is(replayed.redeliveryOf, exchange.deliveryId)
  const logged = await run(['logs', '--failed', '--since', '1h'], folder)
  assert.match(logged.out, 'Redirects are not followed')
  assert.not.match(logged.out, 'localhost port 9')
  const lines = (await run(['logs', '--failed', '--json'], folder)).out.trim().split('\n')
  assert.ok(lines.some(line => JSON.parse(line).diagnosis?.cause === 'redirect'))
  await until(
    'the end of the task',
    async () => (await clientAs('buyer').getTask({ id: taskId })).status === 'delivered',
  )
  const callback = (await clientAs('admin').listExchanges({ taskId })).items.find(
    ({ direction }) => direction === 'callback',
  )!
  const again = await run(['exchanges', 'replay', callback.id], folder)
  assert.match(again.out, /^200 /, 'the same signature gets the first response')
  assert.not.match((await run(['agents', 'list'], folder)).out, 'silent-analyst')
  assert.match((await run(['agents', 'list', '--all'], folder)).out, 'silent-analyst')
})

const DYING = `
  const { createServer } = require('node:http')
  createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(200).end()
    if (JSON.parse(Buffer.concat(chunks)).data.test) return
    console.error('out of ideas')
    setTimeout(() => process.exit(7), 300)
  }).listen(Number(process.env.PORT))
`

test('an agent of dev --run that ends in the midst of work is told with its exit code and its last words', async () => {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-dying-'))
  const command = `"${process.execPath}" -e "${DYING.replaceAll('\n', ' ').replaceAll('"', '\\"')}"`
  const own = await devOf(place, ['--run', command])
  await own.said(/can be hired/)
  const agent = own.ready.agents.find(({ forwardTo }) => forwardTo)!
  const taskId = await hire(own, agent.id)
  const client = createClient({ baseUrl: own.ready.url, apiKey: own.ready.accounts.builder!.apiKey })
  const found = await until('its end', async () => {
    const { diagnosis } = await client.diagnoseTask({ id: taskId })
    return diagnosis?.cause === 'died_at_work' && diagnosis
  })
  assert.match(found.text, /ended with exit code 7 before it had done its work\. Its last words: out of ideas/)
  assert.equal([found.certainty, found.commands], ['sure', [`deliveries resend ${found.evidence.deliveryId}`]])
  const { code, out } = await runAlone(['why', agent.slug], place)
  assert.is(code, 3, out)
  assert.match(out, 'deliveries resend dlv_')
  await own.stop()
  rmSync(place, { recursive: true, force: true })
})

test.run()
