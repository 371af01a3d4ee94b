// engines: embedded; process: shared
/** Single webhooks to an agent without a marketplace: right agents, wrong ones, forged webhooks and unusual ones. */
import { execFile } from 'node:child_process'
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventName } from '../../src/api/events.ts'
import { type TaskState, taskStates } from '../../src/api/flow.ts'
import { signatureHeaders } from '../../src/api/signature.ts'
import { findingsOf, isAwaited, type Outcome } from '../../src/cli/emit/verdict.ts'
import { agentHandler, signCallback, type WebhookEvent } from '../../src/client/webhooks.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import type { SentTask } from '../../src/sim/callbacks/check.ts'
import { forgeries } from '../../src/sim/webhooks/forgeries.ts'
import { eventNames } from '../../src/sim/webhooks/sample-event.ts'
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
  assert.equal(
    careless.data.items.map(({ forge }: { forge: string }) => forge),
    forgeries.map(({ name }) => name),
  )
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
  assert.match(
    remarksOf(narrow),
    /^task\.submitted for task_\w+ was answered in N ms; it names its encoding in Content-Type\n$/,
  )
  assert.is((await answer('task.submitted', '--dress', 'charset')).data.dress, 'charset')
})

const [forged] = forgeries.filter(({ right }) => right === 'answers 401')
const [replayed] = forgeries.filter(({ right }) => right === 'works once')
const [dress] = dresses
const said = (status: number) => ({ ok: true, status, headers: {}, body: '', durationMs: 1 }) as const
const lost = (reason: 'reset' | 'timeout') => ({ ok: false, reason, message: 'It is gone', durationMs: 1 }) as const
const callback = { action: 'accept', status: 200, fault: null, fix: null, advice: null }

/** What is said of an agent that answered so, and whose task is in this state after these callbacks. */
function found(
  event: EventName,
  outcome: Partial<Outcome>,
  state: TaskState | null = null,
  ...callbacks: Partial<SentTask['callbacks'][number]>[]
) {
  const task = state && { state, callbacks: callbacks.map(one => ({ ...callback, ...one })) }
  const whole = { variant: {}, emission: null, result: said(200), again: null, ...outcome, task } as unknown as Outcome
  return findingsOf(event, whole, 1_500).map(({ level, text, fix }) => `${level}: ${text}${fix ? ` (${fix})` : ''}`)
}

test('an answer to a forgery, to a replay and to an unusual webhook is judged by its status', () => {
  const refusing = (result: Outcome['result']) => found('task.submitted', { variant: { forgery: forged! }, result })
  assert.equal(
    [401, 400, 499, 500, 302].flatMap(status => refusing(said(status))),
    [
      ...['right: answered 401', 'weak: answered 400', 'weak: answered 499'],
      ...['wrong: answered 500', 'wrong: answered 302'],
    ],
  )
  assert.equal(refusing(said(200)), ['wrong: answered 200: it accepts a forgery'])
  assert.equal(refusing(lost('reset')), ['weak: It is gone'])
  assert.equal(refusing(lost('timeout')), ['wrong: It is gone'])
  assert.equal(
    found('task.submitted', { variant: { forgery: forged! }, result: said(401) }, 'in_progress', {}),
    ['right: answered 401', 'wrong: accept: it worked on it'],
    'it refuses, and works all the same',
  )
  const again = (first: Outcome['result'], second: Outcome['again']) =>
    found('task.submitted', { variant: { forgery: replayed! }, result: first, again: second })
  const NOTHING = 'wrong: did not accept the genuine webhook, so that a replay shows nothing'
  assert.equal(again(said(200), said(200)), ['right: answered 200 to the replay'])
  assert.equal(again(said(200), said(499)), ['right: answered 499 to the replay'])
  assert.equal(again(said(200), said(500)), ['wrong: answered 500 to the replay'])
  assert.equal(again(said(200), lost('reset')), ['wrong: the replay: It is gone'])
  assert.equal([...again(said(401), null), ...again(lost('reset'), null)], [NOTHING, NOTHING])
  const dressed = (status: number) => found('task.submitted', { variant: { dress: dress! }, result: said(status) })
  assert.equal([199, 200, 299, 300].flatMap(dressed), [
    ...['wrong: answered 199', 'right: answered 200', 'right: answered 299', 'wrong: answered 300'],
  ])
})

test('callbacks are told one by one, and what is missing by what the webhook asked for', () => {
  assert.equal(found('task.submitted', {}, 'delivered', {}, { action: 'deliver', advice: 'it has no taskId' }), [
    'right: accept',
    'weak: deliver: it has no taskId',
  ])
  const refused = { status: 400, fault: 'content is required', fix: 'Send it.' }
  assert.equal(
    found('task.submitted', {}, 'in_progress', {}, refused),
    ['right: accept', 'wrong: accept: 400: content is required (Send it.)'],
    'after that nothing is missing',
  )
  const EMPTY = 'no accept and no reject within 1.5 s'
  const OPEN = 'no delivery within 1.5 s; --wait 60s waits longer'
  const missing: Record<string, string[]> = {}
  for (const event of eventNames)
    for (const state of ['pending', 'in_progress', 'delivered'] as const) {
      const findings = found(event, {}, state)
      if (findings.length > 0) missing[`${event} ${state}`] = findings
    }
  assert.equal(missing, {
    'task.submitted pending': [`weak: ${EMPTY}`],
    'task.submitted in_progress': [`note: ${OPEN}`],
    'task.revision_requested in_progress': [`note: ${OPEN}`],
  })
  assert.equal(found('task.submitted', { result: said(500) }, 'pending'), [], 'nothing is due from who refuses')
  const fault = (direction: 'webhook' | 'callback') =>
    ({ variant: { fault: { name: 'late', does: '', direction } } }) as const
  assert.equal(found('task.submitted', fault('webhook'), 'in_progress'), [`note: ${OPEN}`])
  assert.equal(
    found('task.submitted', fault('callback'), 'in_progress'),
    [`weak: ${OPEN}`],
    'it has to go on by itself',
  )
})

test('it is waited for an agent as long as its webhook asks for something', () => {
  const awaited: string[] = []
  for (const event of eventNames)
    for (const state of taskStates)
      for (const callbacks of [[], [callback]])
        if (isAwaited(event, { state, callbacks } as unknown as SentTask))
          awaited.push(`${event} ${state} ${callbacks.length}`)
  assert.equal(awaited, [
    ...['task.submitted pending 0', 'task.submitted pending 1', 'task.submitted in_progress 0'],
    ...[
      'task.submitted in_progress 1',
      'task.revision_requested in_progress 0',
      'task.revision_requested in_progress 1',
    ],
    ...taskStates.map(state => `task.message ${state} 0`),
  ])
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
  const changed = ['--data', '{"title": "Two", "agreedPrice": 900}', '--header', 'X-Trace: 7', 'X-Empty:']
  const paths = ['--field', 'data.requestor.trustTier=new', 'data.a.b=[1]', 'data.agreedPrice.x=1', 'timestamp=null']
  const { data } = await answer(
    'submitted',
    '--dry-run',
    '--callback-url',
    'http://127.0.0.1:1/x',
    ...changed,
    ...paths,
  )
  const { 'X-Service-Timestamp': at, 'X-Service-Signature': signature, ...headers } = data.headers
  assert.equal(signatureHeaders(SECRET, Number(at), Buffer.from(data.body))['X-Service-Signature'], signature)
  assert.is(data.url, agent.url)
  const { description, requirements, ...task } = JSON.parse(data.body).data
  assert.equal(JSON.parse(data.body), {
    ...{ event: 'task.submitted', timestamp: null },
    data: {
      ...{ taskId: task.taskId, agentId: 'agt_sample', title: 'Two', description, requirements },
      ...{ agreedPrice: { x: 1 }, status: 'pending', callbackUrl: 'http://127.0.0.1:1/x', a: { b: [1] } },
      requestor: { id: 'usr_sample', type: 'user', trustTier: 'new' },
    },
  })
  const shown = Object.entries(headers).filter(([name]) => !name.startsWith('webhook-'))
  assert.equal(Object.fromEntries(shown), {
    ...{ 'content-type': 'application/json', 'user-agent': 'agent-marketplace-webhooks' },
    ...{ 'X-Service-Delivery-Id': headers['webhook-id'], 'X-Service-Attempt': '1', 'X-Trace': '7', 'X-Empty': '' },
  })
  const all = (await answer('submitted', '--dry-run', '--dress', 'all')).data.items
  assert.is(all.length, dresses.length)
  assert.match(
    JSON.parse(all[0].body).data.callbackUrl,
    /^https:\/\/callback\.invalid\/api\/agent\/tasks\/task_\w+\/callback$/,
  )
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
    [['--to', 'x:http://a.example'], '--to takes an address'],
    [['--callback-url', 'here'], '--callback-url takes an address like http://127.0.0.1:3000/webhook, not here.'],
    [['--data', '[1]'], "--data takes a JSON object: fields of data and what they are to be, like '{"],
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
