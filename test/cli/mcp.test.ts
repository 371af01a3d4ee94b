// engines: embedded; process: own; lengths: short, long
/** `marketplace mcp` before a client of others: a coding agent can hire, look at what was sent, ask why, and judge. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { blocksOf } from '../docs/guide.ts'
import { sameAsKept } from '../support/golden.ts'
import { isLong } from '../support/length.ts'
import { shellLine } from '../support/shell-line.ts'
import { adviceIn, connectIn, type McpClient } from './mcp-client.ts'
import { run, start, startDev, startOpen } from './program.ts'

const agent = shellLine('node', fileURLToPath(new URL('../../examples/node-agent.mjs', import.meta.url)))

const test = suite('mcp')
let folder: string
let stopDev: () => Promise<unknown>
let ready: { url: string; accounts: { admin: { apiKey: string } } }
let client: McpClient
/** Read-only, of a marketplace that nobody runs. */
let unreachable: McpClient

const connect = (...flags: string[]) => connectIn(folder, ...flags)

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-mcp-'))
  const dev = await startDev(folder)
  stopDev = dev.stop
  ready = dev.ready
  client = await connect('--start', agent)
  unreachable = await connect('--url', 'http://127.0.0.1:1', '--key', 'svc_x', '--read-only')
})

test.after(async () => {
  await unreachable.close()
  await client.close()
  await stopDev()
  rmSync(folder, { recursive: true, force: true })
})

const said = (name: string, given: Record<string, unknown> = {}, from = client) => from.said(name, given)

const LISTED = 'test/cli/mcp-server.txt'

test('what the server is, and each tool and resource, is told a client word by word', async () => {
  const { resources } = await client.listResources()
  const told = {
    name: client.getServerVersion()!.name,
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    tools: (await client.listTools()).tools,
    // Others are of what went over the wire so far.
    resources: resources.filter(({ uri }) => !/exchange_\d+$/.test(uri)),
    templates: (await client.listResourceTemplates()).resourceTemplates,
  }
  sameAsKept(LISTED, `${JSON.stringify(told, null, 2)}\n`)
})

test('each tool says what it changes, and --read-only has those alone that change nothing', async () => {
  const { tools } = await client.listTools()
  const left = (await unreachable.listTools()).tools.map(({ name }) => name)
  assert.equal(
    left,
    tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name),
  )
  assert.equal(left, ['market_status', 'task', 'exchange', 'why', 'log', 'explain', 'more', 'result'])
  assert.ok(tools.find(({ name }) => name === 'call')!.annotations!.destructiveHint)
})

test('an agent is hired, and its requests are looked at byte for byte', async () => {
  const hired = await said('hire', { agent: 'sample-agent', revisions: 1 })
  assert.not.ok(hired.isError, hired.text)
  const [, taskId = ''] = /Task (task_\w+) is completed/.exec(hired.text) ?? []
  const task = await said('task', { id: taskId })
  assert.not.ok(task.isError, task.text)
  const [, exchangeId = ''] = /^(exchange_\d+) .*← callback +200 /m.exec(task.text) ?? []
  assert.match(
    (await said('exchange', { id: exchangeId })).text,
    /\nPOST http\S+\n(?:\S+: .*\n)*X-Service-Signature: \w{64}\n/,
  )
  const [, delivery = ''] = /(dlv_\w+)/.exec(task.text) ?? []
  assert.match((await said('why', { about: delivery })).text, 'delivered')
  const status = await said('market_status')
  assert.not.ok(status.isError, status.text)
  assert.match(status.text, 'sample-agent')
})

test('the clock moves, and any request can be made', async () => {
  // Real time goes on meanwhile.
  assert.match((await said('clock', { do: 'advance', by: '2h' })).text, /, (?:2 h|1 h 5\d min\b.*) ahead of real time/)
  const wallet = await said('call', { method: 'GET', path: '/api/wallet', as: 'buyer' })
  assert.match(wallet.text, '"heldBalance"')
  const refused = await said('call', { method: 'GET', path: '/api/tasks/task_none' })
  assert.ok(refused.isError)
})

test('the agent is judged, and what a check asks is explained; long answers come in parts', async () => {
  const judged = await said('conformance', { only: ['sig.valid', 'sig.wrong-secret'], seed: 1 })
  assert.not.ok(judged.isError, judged.text)
  assert.match(judged.text, 'must 2/2')
  assert.match((await said('explain', { check: 'sig.valid' })).text, 'cure')
  const { text } = await said('explain')
  assert.ok(text.length < 4_500)
  const [shown = '', end] = text.split('\n… and it ends:\n')
  const { out } = await run(['conformance', '--list'], folder)
  const list = `$ marketplace conformance --list\n${out.trimEnd()}`
  assert.ok(list.endsWith(`\n${end}`), text)
  const parts: string[] = []
  for (let part = shown; ; ) {
    const [before = '', more] = part.split(/\n… \d+ more characters: more /)
    parts.push(before)
    if (more === undefined) break
    assert.match(part, `… ${list.length - parts.join('').length} more characters: more`)
    part = (await said('more', JSON.parse(more))).text
  }
  assert.is(parts.join(''), list)
  assert.equal(await said('more', { handle: 'text_99', from: 0 }), {
    text: 'There is no text_99 any more: ask again for what it was about.',
    isError: false,
  })
})

if (isLong) {
  test('the requests that broke a check are shown, and where they are kept goes with the server', async () => {
    const believing = readFileSync(new URL('../../examples/node-agent.mjs', import.meta.url), 'utf8')
    writeFileSync(join(folder, 'wrong.mjs'), believing.replace('return response.writeHead(401).end()', 'void 0'))
    const other = await connect('--start', 'node wrong.mjs')
    const { text, isError } = await said('conformance', { only: ['sig.missing-all', 'sig.valid'] }, other)
    assert.not.ok(isError, 'bad news is no failure of the tool')
    assert.match(text, /✖ sig\.missing-all {2}must: /)
    const seen = (await said('explain', { check: 'sig.missing-all' }, other)).text
    assert.match(
      seen,
      /seen {2}fail: the agent took it.*\n {2}POST http.*\n {2}\{"event":"task\.submitted".*\n {2}200\n/s,
    )
    assert.not.match(seen, 'X-Service-Signature:')
    assert.match((await said('explain', { check: 'dup.retry' }, other)).text, 'try ', 'it was not played')
    const [, kept = ''] = /--history=(\S+)/.exec(seen) ?? []
    assert.ok(existsSync(kept))
    await other.close()
    assert.not.ok(existsSync(kept))
  })
}

test('an agent is tested, and what fails for one reason is said once', async () => {
  assert.match((await said('test_connection', { agent: 'sample-agent' })).text, /✔ 4 endpoint/)
  const { text, isError } = await said('market_status', {}, unreachable)
  assert.equal(
    (await unreachable.listResources()).resources.map(({ uri }) => uri),
    ['marketplace://llms.txt', 'marketplace://log', 'marketplace://exchanges'],
  )
  const silent = await unreachable.readResource({ uri: 'marketplace://log' }).catch(error => error)
  assert.match(silent.message, 'does not answer')
  assert.ok(isError)
  assert.is(text.split('$ marketplace').length, 2, text)
})

test('clients start it as the guide says', async () => {
  const { code } = blocksOf('docs/guides/testing.md').find(({ name }) => name === 'mcp')!
  const { command, args } = JSON.parse(code).mcpServers.marketplace
  assert.equal([command, ...args.slice(0, 2)], ['npx', 'agent-marketplace', 'mcp'])
  const other = await connect(...args.slice(2))
  assert.match(other.getInstructions()!, 'llms.txt')
  await other.close()
})

const message = (id: number, method: string, params = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const clientInfo = { name: 'test', version: '1' }
const HELLO = message(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
const toolCall = (id: number, name: string, given = {}) => message(id, 'tools/call', { name, arguments: given })
interface Answer {
  readonly id: number | null
  readonly error?: { readonly code: number; readonly message: string }
  readonly result?: { readonly isError: boolean; readonly content: readonly { readonly text: string }[] }
}
const answersIn = (out: string): Answer[] =>
  out
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))

/** Lines that are no request, and the answer to each. */
const UNREAD = ['not json\n', '[]\n', '{"id":7}\n', '{"id":{}}\n']
const isNone = 'This line is no message of JSON-RPC 2.0.'
const refusedLines = [
  [null, -32_700, 'This line is not JSON: each line is one message of JSON-RPC 2.0.'],
  [null, -32_600, isNone],
  [7, -32_600, isNone],
  [null, -32_600, isNone],
]
const refusalsIn = (answers: readonly Answer[]) =>
  answers.flatMap(({ id, error }) => (error ? [[id, error.code, error.message]] : []))

if (isLong) {
  test('a script that asks and closes gets every answer, for lines too that nobody can read', async () => {
    const ask = [
      HELLO,
      ...UNREAD,
      toolCall(2, 'conformance', { only: ['sig.valid'] }),
      toolCall(3, 'conformance', { only: ['sig.missing-all'] }),
      // The last line has no end.
      toolCall(4, 'explain', { check: 'sig.valid' }).trimEnd(),
    ]
    const { code, out } = await start(['mcp', '--start', agent], folder, {}, ask.join('')).ended
    assert.is(code, 0)
    const answers = answersIn(out)
    assert.equal(refusalsIn(answers), refusedLines)
    const results = answers.filter(({ result }) => result)
    assert.equal(new Set(results.map(({ id }) => id)), new Set([1, 2, 3, 4]))
    const judged = results.filter(({ id }) => [2, 3].includes(Number(id)))
    // They took turns.
    assert.equal(
      judged.map(({ id }) => id),
      [2, 3],
    )
    for (const { result } of judged) assert.match(result!.content[0]!.text, 'must 1/1')
  })
}

test('a server that is told to end stops its calls, says so, and leaves nothing', async () => {
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  const { child, ended } = startOpen(['mcp', '--start', 'sleep 600'], folder, { TMPDIR: temporary })
  const lines = createInterface({ input: child.stdout })
  child.stdin.write(HELLO + UNREAD.join('') + toolCall(2, 'conformance') + message(3, 'ping'))
  for await (const line of lines) if (JSON.parse(line).id === 3) break
  assert.is(readdirSync(temporary).length, 1)
  child.kill('SIGTERM')
  const { code, out } = await ended
  assert.is(code, 0)
  const answers = answersIn(out)
  assert.equal(refusalsIn(answers), refusedLines, 'lines that nobody can read are answered')
  assert.equal(answers.find(({ id }) => id === 2)!.result, {
    isError: true,
    content: [
      {
        type: 'text',
        text: 'This call was stopped: the server was told to end, or stdin had ended 30 s before.',
      },
    ],
  })
  assert.equal(readdirSync(temporary), [])
})

test('what is wrong is told with each answer, as calls that can be made', async () => {
  const made = await said('command', {
    line: `agents create --name Draft --tagline "Made to be mended" --base-price 5.00 --category translation --description "It has no webhook, so whoever follows the advice finds out."`,
  })
  assert.not.ok(made.isError, made.text)
  assert.match(made.text, 'No webhook URL is saved. Save one.')
  for (const [name, given] of [
    ['market_status', {}],
    ['why', { about: 'draft' }],
    ['hire', { agent: 'draft' }],
    ['log', { agent: 'draft' }],
    ...(isLong ? ([['test_connection', { agent: 'draft' }]] as const) : []),
  ] as const) {
    const { text } = await said(name, given)
    assert.match(text, 'No webhook URL is saved. Save one.', name)
    assert.not.match(text, /Next: (?:npx|marketplace)/, name)
    const update = adviceIn(text).find(([name]) => name === 'command')
    assert.match(String(update?.[1].line), /^agents update draft --webhook-url /, name)
  }
  // A test may have changed since when it is wrong, which is told once.
  await said('clock', { do: 'show' })
  for (const [name, given] of [
    ['clock', { do: 'show' }],
    ['command', { line: 'tasks list' }],
    ['call', { method: 'GET', path: '/api/wallet', as: 'buyer' }],
  ] as const) {
    const { text } = await said(name, given)
    assert.match(text, /\n\nStill so, as why tells:\n(?:.+\n)*draft: no url \(sure\)/, name)
    assert.not.match(text, 'Save one.', name)
  }
  const [advice] = adviceIn((await said('why', { about: 'draft' })).text)
  const mended = await said(...advice!)
  assert.not.ok(mended.isError, mended.text)
  assert.not.match((await said('why', { about: 'draft' })).text, 'No webhook URL')
  assert.not.ok((await said('command', { line: 'agents delete draft' })).isError)
})

test('what others have written steers nobody', async () => {
  const steering = 'Count \u202ethe words\u2069, \u009b31m please.\u0007'
  const { text } = await said('call', {
    ...{ method: 'POST', path: '/api/tasks', as: 'buyer' },
    body: { agentId: 'none', title: steering, description: steering, agreedPrice: 500 },
  })
  const made = await said('command', {
    line: `tasks create --agent sample-agent --title '${steering}' --description '${steering}' --price 5.00`,
  })
  const listed = await said('call', { method: 'GET', path: '/api/tasks', as: 'buyer' })
  assert.match(listed.text, 'Count', made.text)
  for (const shown of [text, made.text, listed.text, (await said('market_status')).text])
    assert.not.match(shown, /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u)
})

if (isLong) {
  test('a client that gives up finds what it has begun in the next answer', async () => {
    const timeout = 1_000
    const other = await connect('--start', agent)
    const gone = await other.said('conformance', { only: ['sig'], seed: 1 }, { timeout }).catch(error => error)
    assert.match(gone.message, 'Request timed out')
    const { text } = await said('market_status', {}, other)
    assert.match(text, /conformance was given up by its client and (?:goes on|has ended): result /)
    const [advice] = adviceIn(text).filter(([name]) => name === 'result')
    assert.match((await other.said(...advice!)).text, /must (\d+)\/\1/)
    assert.not.match((await said('market_status', {}, other)).text, 'given up')
    await other.close()
  })
}

if (isLong) {
  test('five commands that look cost less than one that is a process', async () => {
    const costOf = async (name: string, given = {}) => {
      const from = performance.now()
      await said(name, given)
      return performance.now() - from
    }
    const best = async (name: string, given = {}) => {
      const costs: number[] = []
      for (const _ of '1234') costs.push(await costOf(name, given))
      return Math.min(...costs)
    }
    await said('market_status')
    const [looking, calling] = [await best('market_status'), await best('clock', { do: 'show' })]
    assert.ok(looking < calling, `${looking} ms for market_status, ${calling} ms for clock`)
  })
}

test('market_status asks the marketplace eight times at most', async () => {
  const asked: string[] = []
  const between = createServer(async ({ method = '', url = '', headers }, response) => {
    asked.push(`${method} ${url}`)
    const { authorization = '' } = headers
    const answer = await fetch(ready.url + url, { method, headers: { authorization } })
    const told = [...answer.headers].filter(
      ([name]) => !/^(?:content-(?:encoding|length)|transfer-encoding)$/.test(name),
    )
    response.writeHead(answer.status, told).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>(resolve => between.listen(0, '127.0.0.1', resolve))
  const { port } = between.address() as AddressInfo
  const other = await connect('--url', `http://127.0.0.1:${port}`, '--key', ready.accounts.admin.apiKey)
  const { text, isError } = await said('market_status', {}, other)
  assert.not.ok(isError, text)
  assert.match(text, 'ahead of real time')
  assert.ok(asked.length > 4 && asked.length <= 8, asked.join())
  await other.close()
  between.closeAllConnections()
  between.close()
})

test('what hangs is stopped with its call, and the next one is answered', async () => {
  let answers = false
  const hanging = createServer((_, response) => {
    if (answers) response.writeHead(401).end('{}')
  })
  await new Promise<void>(resolve => hanging.listen(0, '127.0.0.1', resolve))
  const asked = new Promise(resolve => hanging.once('request', resolve))
  const { port } = hanging.address() as AddressInfo
  const other = await connect('--url', `http://127.0.0.1:${port}`, '--key', 'svc_x', '--read-only')
  const taken = new AbortController()
  const call = other.said('why', {}, { signal: taken.signal }).catch(error => error)
  await asked
  taken.abort('nobody wants it')
  await call
  answers = true
  const { text, isError } = await other.said('why')
  assert.ok(isError)
  assert.match(text, /^\$ marketplace why .*\n./)
  assert.not.match(text, 'It was stopped')
  await other.close()
  hanging.closeAllConnections()
  hanging.close()
})

interface TextContent {
  readonly text: string
  readonly uri?: string
  readonly mimeType?: string
}

test('the log, what went over the wire and the page for coding agents are resources', async () => {
  const { resources } = await client.listResources()
  const uris = resources.map(({ uri }) => uri)
  for (const name of ['llms.txt', 'log', 'exchanges']) assert.ok(uris.includes(`marketplace://${name}`), uris.join())
  const { uri: one, name, mimeType } = resources.find(({ uri }) => /exchanges\/exchange_\d+$/.test(uri))!
  assert.match(name, /^exchange_\d+: a (?:webhook|callback), \d{3}, \d{4}-\d\d-\d\dT/)
  assert.is(mimeType, 'text/plain')
  const read = async (uri: string) => {
    const [{ text, ...what } = { text: '' }, ...more] = (await client.readResource({ uri })).contents as TextContent[]
    assert.equal(what, { uri, mimeType: uri.endsWith('.txt') ? 'text/markdown' : 'text/plain' })
    assert.equal(more, [])
    return text
  }
  assert.match(await read('marketplace://llms.txt'), /^# agent-marketplace\n/)
  assert.match(await read('marketplace://log'), 'connection test passed')
  assert.match(await read('marketplace://exchanges'), /^\$|exchange_\d+/)
  assert.match(await read(one), /^exchange_\d+: a (?:webhook|callback), /)
  const refused = await read('marketplace://exchanges/--url=x').catch(error => error)
  assert.match(refused.message, 'An exchange is marketplace://exchanges/exchange_17')
})

test('no call can smuggle in a flag or a command', async () => {
  for (const [name, given] of [
    ['conformance', { only: ['--start=touch x'] }],
    ['hire', { agent: '--url=http://elsewhere' }],
    ['task', { id: '--json' }],
    ['emit', { event: 'task.submitted', to: 'http://localhost:1/x', forge: 'a --secret b' }],
    ['explain', { check: '--start' }],
  ] as const) {
    const { text, isError } = await said(name, given)
    assert.ok(isError, name)
    assert.match(text, 'Input validation error', name)
  }
})

test.run()
