// engines: embedded; process: shared
/** Single webhooks to an agent without a marketplace: right agents, wrong ones, forged webhooks and unusual ones. */
import { execFile } from 'node:child_process'
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentHandler, signCallback, type WebhookEvent } from '../../src/client/webhooks.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { forgeries } from '../../src/sim/webhooks/forgeries.ts'
import { dresses } from '../../src/sim/webhooks/unusual.ts'
import { EmitAgent } from './emit-agent.ts'
import { withWait } from './longer-wait.ts'
import { answerOf, run } from './program.ts'

const SECRET = 'whsec_c2VjcmV0IG9mIGEgdGVzdA=='
const agent = new EmitAgent()
const { requests } = agent
const events: WebhookEvent[] = []

/** An agent that does what it should. */
const right = () => {
  const take = (event: WebhookEvent) => void events.push(event)
  return agentHandler({
    secret: SECRET,
    onError: () => {},
    onRefused: () => {},
    async onTask(event, reply) {
      take(event)
      await reply.accept()
      await reply.deliver('Done.')
    },
    onRevision: (_event, reply) => reply.deliver('Done again.'),
    onMessage: (event, reply) => {
      take(event)
      return reply.message('Yes?')
    },
  })
}

/** An agent that verifies nothing, answers 200 and then calls back with these bodies. */
const calling =
  (bodies: readonly object[], secret = SECRET): http.RequestListener =>
  async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.end()
    const { data } = JSON.parse(Buffer.concat(chunks).toString())
    for (const body of bodies) {
      const told = JSON.stringify(body).replace('TASK', data.taskId)
      await (await fetch(data.callbackUrl, { method: 'POST', ...signCallback(secret, JSON.parse(told)) })).text()
    }
  }

const args = (event: string, flags: readonly string[]) => {
  const where = ['--to', agent.url, '--secret', SECRET]
  return ['emit', event, ...where, ...flags]
}
const here = (event: string, ...flags: string[]) => run(args(event, flags), tmpdir())
const answer = (event: string, ...flags: string[]) => answerOf(args(event, flags), tmpdir())

/** But for what is said of a secret on a command line. */
const remarksOf = ({ err }: { err: string }) => err.replace(/^--secret stays .*\n/, '').replace(/\d+ ms/g, 'N ms')

const cellsIn = (out: string) =>
  out
    .trimEnd()
    .replace(/\d+ ms/g, 'N ms')
    .split('\n')
    .map(row => row.split(/ {2,}/))

test.before(() => agent.listen())
test.before.each(() => {
  agent.handle = right()
  events.length = 0
  requests.length = 0
})
test.after(() => agent.close())

test('a right agent is heard: its answer, and each of its callbacks', async () => {
  const sent = await here('task.submitted')
  assert.is(sent.code, 0, sent.err)
  assert.is(sent.out, '200 {"success":true}\n✔ accept\n✔ deliver\n')
  const [{ data: task }] = events as [WebhookEvent]
  assert.is(remarksOf(sent), `task.submitted for ${task.taskId} was answered in N ms\n`)
  assert.match(task.callbackUrl, `/api/agent/tasks/${task.taskId}/callback`)
  assert.match((await here('revision_requested')).out, '✔ deliver')
  const env = { MARKETPLACE_WEBHOOK_SECRET: SECRET }
  const words = ['emit', 'message', '--to', agent.url, '--data', '{"message": "Hi"}']
  const { code, data } = await answerOf(words, tmpdir(), env)
  assert.is(code, 0)
  assert.is((events[1]!.data as { message?: string }).message, 'Hi')
  const { durationMs, ...told } = data
  assert.type(durationMs, 'number')
  const deliveryId = requests.at(-1)!.headers['x-service-delivery-id']
  assert.equal(told, {
    ...{ event: 'task.message', taskId: events[1]!.data.taskId, deliveryId, to: agent.url },
    ...{ status: 200, body: '{"success":true}' },
    callbacks: [{ action: 'message', status: 201, fault: null, fix: null, advice: null }],
    findings: [{ level: 'right', text: 'message' }],
  })
})

test('callbacks are judged as the marketplace would, and what is wrong ends with 3', async () => {
  for (const [bodies, words, code, secret] of [
    [[{ action: 'accept', taskId: 'TASK' }], '✖ ?: 401: The signature matches none of', 3, 'whsec_b3RoZXI='],
    [
      [{ action: 'accept', taskId: 'TASK' }],
      '\n  The key is the whole secret as a text, from whsec_ to its last =.\n',
      3,
      SECRET.slice('whsec_'.length),
    ],
    [
      [{ action: 'deliver', taskId: 'TASK', content: 'Done.' }],
      "✖ deliver: 400: A task that is pending can't be delivered",
      3,
    ],
    [
      [
        { action: 'accept', taskId: 'TASK' },
        { action: 'deliver', taskId: 'TASK' },
      ],
      '✔ accept\n✖ deliver: 400: content is required',
      3,
    ],
    [[{ action: 'agree', taskId: 'TASK' }], '✖ agree: 400: action must be one of: accept, reject, deliver, message', 3],
    [[{ action: 'accept', taskId: 'task_other' }], '✖ accept: 401: Its taskId names another task', 3],
    [[{ action: 'reject' }], '! reject: it has no taskId', 0],
    [[{ action: 'accept', taskId: 'TASK' }], '✔ accept\n- no delivery within 0.3 s', 0],
    [[], '! no accept and no reject within 0.3 s', 0],
  ] as const) {
    agent.handle = calling(bodies, secret)
    const isSo = ({ out }: { out: string }) => out.replace('within 30 s', 'within 0.3 s').includes(words)
    const sent = await withWait('300ms', wait => here('task.submitted', '--wait', wait), isSo)
    assert.is(sent.code, code, sent.out)
    assert.ok(isSo(sent), sent.out)
  }
  assert.is((await here('task.submitted', '--wait', '50ms', '--strict')).code, 3)
  agent.handle = calling([{ action: 'accept', taskId: 'TASK' }])
  const late = await here('task.cancelled')
  assert.match(late.out, "✖ accept: 400: A task that is cancelled can't be accepted")
})

test('an agent that refuses every forgery passes; one that verifies nothing does not', async () => {
  const refusing = await here('task.submitted', '--forge', 'all')
  assert.is(refusing.code, 0, refusing.out)
  assert.equal(
    cellsIn(refusing.out),
    forgeries.map(({ name, does, right }) => [...['✔', name, right === 'works once' ? '200' : '401', 'N ms', does]]),
  )
  assert.is(remarksOf(refusing), `${forgeries.length} of ${forgeries.length} as they should be.\n`)

  agent.handle = calling([{ action: 'accept', taskId: 'TASK' }])
  const wrongIn = ({ data }: { data: { items: { findings: { level: string }[] }[] } }) =>
    data.items.filter(({ findings }) => findings.some(({ level }) => level === 'wrong')).length
  const careless = await withWait(
    '100ms',
    wait => answer('task.submitted', '--forge', 'all', '--wait', wait),
    said => wrongIn(said) === forgeries.length,
  )
  assert.is(careless.code, 3)
  assert.is(wrongIn(careless), forgeries.length, 'a replay that is worked on twice is wrong too')

  agent.handle = (_request, response) => response.writeHead(403).end()
  const blunt = await here('task.submitted', '--forge', 'wrong-secret')
  assert.is(blunt.out, '403\n! answered 403\n')
  assert.match(remarksOf(blunt), /^task\.submitted for task_\w+ was answered in N ms; it signs with a secret that is/)
  assert.is(blunt.code, 0)
  agent.handle = (_request, response) => response.writeHead(500).end()
  assert.is((await here('task.submitted', '--forge', 'long')).code, 3)
})

test('an agent that takes every unusual webhook passes; one that knows only the usual bytes does not', async () => {
  const taken = await here('task.submitted', '--dress', 'all', '--wait', '60s')
  assert.is(taken.code, 0, taken.out)
  assert.equal(
    cellsIn(taken.out),
    dresses.map(({ name, does }) => ['✔', name, '200', 'N ms', does]),
  )
  assert.is(remarksOf(taken), `${dresses.length} of ${dresses.length} as they should be.\n`)
  agent.handle = (request, response) =>
    response.writeHead(request.headers['content-type'] === 'application/json' ? 200 : 415).end()
  const narrow = await here('task.submitted', '--dress', 'charset')
  assert.is(narrow.code, 3)
  assert.is(narrow.out, '415\n✖ answered 415\n')
})

test('--times sends so many tasks, --field and --header change them, all signed', async () => {
  const fields = [
    '--field',
    'data.agreedPrice=900',
    'data.message=Hi there',
    '--header',
    'X-Trace: 7',
    'X-Service-Attempt: 3',
  ]
  const { code, out, err } = await here('message', '--times', '3', '--gap', '10ms', ...fields)
  assert.is(code, 0)
  assert.equal(
    cellsIn(out),
    ['1', '2', '3'].map(number => ['✔', number, '200', 'N ms', 'message']),
  )
  assert.is(remarksOf({ err }), '3 of 3 as they should be.\n')
  assert.is(new Set(events.map(event => event.data.taskId)).size, 3)
  for (const { data: task } of events)
    assert.equal([task.agreedPrice, (task as { message?: string }).message], [900, 'Hi there'])
  for (const { headers } of requests) assert.equal([headers['x-trace'], headers['x-service-attempt']], ['7', '3'])
})

test('--dry-run sends nothing, and the command that it prints works', async () => {
  const fields = ['--field', "data.title=It's a \\ test", '--callback-url', agent.url]
  const printed = await here('task.submitted', '--dry-run', ...fields)
  assert.is(printed.code, 0)
  assert.is(requests.length, 0)
  assert.not.match(printed.out, SECRET)
  const { stdout } = await promisify(execFile)('sh', ['-c', printed.out])
  assert.match(stdout, /^HTTP\/1\.1 200 /)
  assert.is(events[0]?.data.title, "It's a \\ test")
  const empty = await here('task.submitted', '--dry-run', '--forge', 'empty-headers')
  assert.match((await promisify(execFile)('sh', ['-c', empty.out])).stdout, /^HTTP\/1\.1 401 /)
  assert.is(requests.at(-1)?.headers['x-service-signature'], '')
})

test('a secret that the agent does not know, and an address where nobody listens, have exit codes of their own', async () => {
  const wrong = await here('task.submitted', '--secret', 'whsec_other')
  assert.is(wrong.code, 1)
  assert.match(wrong.out, /^401 /)
  assert.match(
    remarksOf(wrong),
    /N ms\nThe agent did not accept the signature: does it know this very secret, whsec_ included\?\n$/,
  )
  const away = await here('task.submitted', '--to', `http://127.0.0.1:${await freePort()}`)
  assert.is(away.code, 5, away.err)
  assert.match(away.err, 'Nothing listens')
})

test('what makes no sense is refused before anything is sent', async () => {
  for (const [flags, words] of [
    [['--forge', 'nothing'], '--forge knows no nothing. It takes all, or one of: wrong-secret, '],
    [['--dress', 'nothing'], '--dress knows no nothing. It takes all, or one of: unknown-field, '],
    [['--forge', 'all', '--dress', 'all'], 'exclude each other'],
    [['--forge', 'all', '--times', '2'], 'takes no --times'],
    [['--field', 'agreedPrice'], '--field takes a path and a value'],
    [['--field', '__proto__.x=1'], '--field takes a path and a value'],
    [['--header', 'no colon'], '--header takes a line'],
    [['--wait', '5'], 'A duration is written like 90s'],
    [['--to', 'http://10.0.0.1/'], 'private'],
    [['--to', 'localhost'], '--to takes an address'],
  ] as const) {
    const { code, err } = await here('task.submitted', ...flags)
    assert.is(code, 2, err)
    assert.match(err, words)
  }
  assert.match((await here('task.created')).err, 'The events: task.submitted')
  const unsigned = await run(['emit', 'task.submitted', '--to', agent.url], tmpdir())
  assert.is(unsigned.code, 2)
  assert.match(unsigned.err, 'Give --secret-file secret.txt, or set MARKETPLACE_WEBHOOK_SECRET')
  assert.is(requests.length, 0)
})

test.run()
