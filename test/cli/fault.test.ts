// engines: embedded; process: shared
/** `marketplace fault`: each fault is seen by an agent, once, and the log of dev says so. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type FaultName, faultNames, faults } from '../../src/api/faults.ts'
import { signatureHeaders } from '../../src/api/signature.ts'
import { type Client, createClient } from '../../src/client/typed-client.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'
import { sameNames } from '../support/same-names.ts'
import { answerOf, inFolder, run, start, startDev } from './program.ts'

interface Seen {
  event: string
  id: string
  signature: string
  taskId: string
  at: number
}

/** A plain agent: it believes everybody, notes what it gets and what its callbacks are told, and repeats none. */
async function plainAgent() {
  const seen: Seen[] = []
  const told: { action: string; status: number | 'cut'; ms: number }[] = []
  let secret = ''
  const call = async (url: string, fields: { action: string; content?: string }) => {
    const body = JSON.stringify(fields)
    const headers = { 'content-type': 'application/json', ...signatureHeaders(secret, Date.now(), body) }
    const from = Date.now()
    const status = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
      .then(async response => {
        await response.arrayBuffer()
        return response.status
      })
      .catch(() => 'cut' as const)
    told.push({ action: fields.action, status, ms: Date.now() - from })
  }
  const server = await listen(async (request, response) => {
    const { event, data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    response.end()
    if (data.test) return call(data.callbackUrl, { action: 'accept' })
    const { 'x-service-delivery-id': id, 'x-service-signature': signature } = request.headers
    seen.push({ event, id: String(id), signature: String(signature), taskId: data.taskId, at: Date.now() })
    if (event === 'task.submitted' && seen.filter(one => one.id === id).length === 1)
      await call(data.callbackUrl, { action: 'accept' })
  })
  const use = (given: string) => {
    secret = given
  }
  return { seen, told, url: `${server.url}/webhook`, use, close: server.close }
}

let folder: string
let agent: Awaited<ReturnType<typeof plainAgent>>
let dev: ReturnType<typeof start>
let buyer: Client
let agentId: string
let log = ''

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-fault-'))
  agent = await plainAgent()
  dev = start(['dev', '--json', '--port', '0', '--agent', `mine=${agent.url}`], folder)
  dev.child.stdout!.on('data', chunk => (log += chunk))
  const { url, agents, accounts } = JSON.parse(await dev.firstLine)
  const mine = agents.find(({ slug }: { slug: string }) => slug === 'mine')
  agentId = mine.id
  agent.use(mine.webhookSecret)
  buyer = createClient({ baseUrl: url, apiKey: accounts.buyer.apiKey })
  await run(['test-connection', 'mine'], folder)
  const isListed = () => log.includes('mine can be hired')
  await until(() => log, isListed)
})

test.after(async () => {
  dev.child.kill('SIGTERM')
  await dev.ended
  await agent.close()
  rmSync(folder, { recursive: true, force: true })
})

const of = (taskId: string) => agent.seen.filter(one => one.taskId === taskId)

async function buy() {
  const words = { title: 'Something to do', description: 'Whatever there is to do, please.', agreedPrice: 500 }
  const { id } = await buyer.createTask({ agentId, ...words })
  return buyer.submitTask({ id })
}

/** Arms it, and buys the task that meets it. */
async function met(name: FaultName, on: string) {
  const told = await answerOf(['fault', 'arm', name, '--on', on, '--agent', 'mine'], folder)
  assert.is(told.code, 0, JSON.stringify(told))
  const before = agent.told.length
  const from = Date.now()
  const { id } = await buy()
  return { id, from, answered: () => agent.told[before] }
}

const isCopy = ([one, other]: Seen[]) => other !== undefined && one!.signature === other.signature

const webhooks = {
  copy: isCopy,
  'copy-at-once': isCopy,
  'answer-lost': ([one, other]) => other !== undefined && one!.id === other.id && one!.signature !== other.signature,
  'webhook-lost': ([one]) => one !== undefined,
  late: ([one], from) => one !== undefined && one.at - from > 2_900,
} satisfies Readonly<Record<string, (seen: Seen[], from: number) => boolean>>

for (const [name, isSeen] of Object.entries<(seen: Seen[], from: number) => boolean>(webhooks)) {
  test(`a webhook meets it: ${name}`, async () => {
    const { id, from } = await met(name as FaultName, 'submitted')
    const whether = () => isSeen(of(id), from)
    await until(() => JSON.stringify(of(id)), whether)
  })
}

test('a webhook meets it: overtaken', async () => {
  const first = await met('overtaken', 'task.submitted')
  const second = await buy()
  await until('the webhook that is overtaken', () => of(first.id).length > 0)
  const order = agent.seen.map(({ taskId }) => taskId)
  const overtaking = order.indexOf(second.id)
  assert.ok(overtaking >= 0 && overtaking < order.indexOf(first.id), order.join())
})

const callbacks = {
  'response-lost': ['cut', true],
  'bad-gateway': [502, true],
  'late-response': [200, true],
  unavailable: [503, false],
  'too-many': [429, false],
  'lost-race': [409, false],
  redirect: [307, false],
  'changed-byte': [401, false],
} as const satisfies Readonly<Record<string, readonly [told: number | 'cut', counts: boolean]>>

for (const [name, [status, counts]] of Object.entries(callbacks)) {
  test(`a callback meets it: ${name}`, async () => {
    const { id, answered } = await met(name as FaultName, 'accept')
    await until('a callback', () => answered() !== undefined)
    assert.is(answered()!.status, status)
    assert.is((await buyer.getTask({ id })).status, counts ? 'in_progress' : 'pending')
    if (name === 'late-response') assert.ok(answered()!.ms > 9_900)
  })
}

test('all were met once, and the log says which', async () => {
  sameNames([...Object.keys(webhooks), 'overtaken', ...Object.keys(callbacks)], faultNames)
  for (const name of faultNames) assert.is(log.split(`"type":"fault","fault":"${name}"`).length, 2, name)
})

test('those that wait are listed, and taken back', async () => {
  await run(['fault', 'arm', 'copy', '--on', 'task.cancelled'], folder)
  const listed = await run(['fault', 'list'], folder)
  assert.match(listed.out, `copy  task.cancelled of any agent, waits: ${faults.copy.does}`)
  assert.match(listed.out, /^changed-byte {2}accept of \S+, met by task_/m)
  assert.match((await run(['fault', 'clear'], folder)).out, 'Took back 1.')
})

test(
  'one that nothing has met is named when dev ends',
  inFolder(async place => {
    const { stop } = await startDev(place)
    await run(['fault', 'arm', 'late', '--on', 'task.disputed'], place)
    assert.match((await stop()).out, 'The fault late on task.disputed met nothing')
  }),
)

test(
  'what is unknown is refused, with what there is',
  inFolder(async folder => {
    const unknown = await run(['fault', 'arm', 'lost'], folder)
    assert.is(unknown.code, 2)
    for (const name of faultNames) assert.ok(unknown.err.includes(name), name)
    const wrong = await run(['fault', 'arm', 'copy', '--on', 'deliver'], folder)
    assert.match(wrong.err, /copy happens to a webhook: --on takes task\.submitted/)
  }),
)

test.run()
