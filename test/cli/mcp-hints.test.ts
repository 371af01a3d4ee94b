// engines: embedded; process: shared
/** What each tool of `mcp` is, and which commands it runs. Where people are advised to type a command, a client of `mcp` is advised to make a call that does the same. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as z from 'zod'
import { toRecord } from '../../src/api/diagnosis/record.ts'
import { causeNames } from '../../src/api/diagnosis/table.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { nextSteps } from '../../src/cli/connection/next-steps.ts'
import { callFor, withCalls } from '../../src/cli/mcp/advice.ts'
import { type Given, tools } from '../../src/cli/mcp/tools.ts'
import { toolsPage } from '../docs/tools-page.ts'
import { sameNames } from '../support/same-names.ts'

const { chapters } = await wholeTable()
const records = chapters.flatMap(([, records]) => records)
const given: Given = {
  reach: ['--as=builder'],
  agent: ['--start=node agent.js'],
  secret: ['--secret-file=key.txt'],
  history: 'none',
  records,
}

const evidence = { taskId: 'task_1a2b3c', deliveryId: 'dlv_1a2b3c' }
const location = 'https://agent.example/hook?a=1&b=2'
const advised = new Set(
  causeNames.flatMap(cause =>
    [true, false].flatMap(isDev => {
      const finding = { cause, certainty: 'sure', text: '', location, evidence } as const
      return toRecord(finding, { isDev, agent: 'my-agent' }).commands
    }),
  ),
)

/** The command lines that a call comes to, once its input is what its tool takes. */
function commandsOf(call: string): string[] {
  const [, name, input] = /^(\w+) (.*)$/.exec(call)!
  const tool = tools.find(tool => tool.name === name)!
  return tool.commands(z.strictObject(tool.input).parse(JSON.parse(input!)), given).map(words => words.join(' '))
}

test('the page of the tools has each with what it does and what it takes', () => {
  assert.fixture(toolsPage(), readFileSync('docs/reference/tools.md', 'utf8'))
})

const AGENT = 'my-agent'
const LONG = 'Count the words, please.'
/** How long a buyer waits for an answer. */
const SECONDS = JSON.parse('{"timeout":5}')
const inputs: readonly [tool: string, input: Readonly<Record<string, unknown>>, ...lines: string[]][] = [
  [
    'market_status',
    {},
    'agents list --as=builder',
    'tasks list --limit=5 --as=builder',
    'deliveries list --failed --limit=5 --as=builder',
    'clock show --as=builder',
  ],
  ['hire', { agent: AGENT }, 'simulate buyer my-agent --as=builder'],
  [
    'hire',
    { agent: AGENT, price: 550, outcome: 'dispute', revisions: 0, title: 'A letter', description: LONG, ...SECONDS },
    'simulate buyer my-agent --price=5.50 --outcome=dispute --revisions=0 --title=A letter --description=Count the words, please. --timeout=5 --as=builder',
  ],
  [
    'task',
    { id: 'task_1' },
    'tasks show task_1 --as=builder',
    'tasks messages task_1 --as=builder',
    'deliveries list --task=task_1 --as=builder',
    'exchanges list --task=task_1 --as=builder',
  ],
  ['exchange', { id: 'exchange_7' }, 'exchanges show exchange_7 --as=builder'],
  ['why', {}, 'why --as=builder'],
  ['why', { about: AGENT }, 'why my-agent --as=builder'],
  ['why', { about: 'dlv_1' }, 'why dlv_1 --as=builder', 'deliveries show dlv_1 --as=builder'],
  ['log', {}, 'logs --since=5m --as=builder'],
  [
    'log',
    { since: '1h', failed: true, agent: AGENT, task: 'task_1' },
    'logs --since=1h --failed --agent=my-agent --task=task_1 --as=builder',
  ],
  ['test_connection', { agent: AGENT }, 'test-connection my-agent --as=builder'],
  [
    'emit',
    { event: 'task.submitted', to: 'http://localhost:3000/webhook' },
    'emit task.submitted --to=http://localhost:3000/webhook --secret-file=key.txt',
  ],
  [
    'emit',
    {
      ...{ event: 'task.approved', to: 'http://localhost:1/', forge: 'all', dress: 'gzip', fault: 'answer-lost' },
      fields: { 'data.agreedPrice': 500, 'data.title': 'A' },
    },
    'emit task.approved --to=http://localhost:1/ --forge=all --dress=gzip --fault=answer-lost --secret-file=key.txt --field=data.agreedPrice=500 --field=data.title="A"',
  ],
  ['clock', { do: 'show' }, 'clock show --as=builder'],
  ['clock', { do: 'next', by: '2h' }, 'clock next --as=builder'],
  ['clock', { do: 'advance', by: '2h' }, 'clock advance 2h --as=builder'],
  ['clock', { do: 'advance' }, 'clock advance 1h --as=builder'],
  ['conformance', {}, 'conformance --start=node agent.js --save-history=none --timeout=9m'],
  [
    'conformance',
    { only: ['sig', 'dup.retry'], seed: 0, strict: true },
    'conformance --start=node agent.js --save-history=none --only=sig --only=dup.retry --seed=0 --strict --timeout=9m',
  ],
  ['explain', {}, 'conformance --list'],
  ['explain', { check: 'sig.valid' }, 'conformance --explain=sig.valid'],
  ['call', { method: 'GET', path: '/api/wallet' }, 'call GET /api/wallet --as=builder'],
  [
    'call',
    { method: 'POST', path: '/api/tasks', body: { title: 'A' }, as: 'buyer' },
    'call POST /api/tasks --data={"title":"A"} --as=builder --as=buyer',
  ],
  ['command', { line: 'tasks list --as buyer' }, 'tasks list --as=builder --as buyer'],
]

test('each tool runs the commands that do what it is asked for, with all of its input', () => {
  for (const [tool, input, ...lines] of inputs) assert.equal(commandsOf(`${tool} ${JSON.stringify(input)}`), lines)
  const fields = inputs.flatMap(([tool, input]) => Object.keys(input).map(field => `${tool}.${field}`))
  sameNames(
    tools.flatMap(({ name, input }) => Object.keys(input).map(field => `${name}.${field}`)),
    new Set(fields),
    'an input',
  )
})

test('input that would be a flag, or is out of bounds, is no input', () => {
  const taken = inputs.filter(([tool, input]) =>
    Object.entries(input).some(([field, value]) => {
      const { input: shape } = tools.find(({ name }) => name === tool)!
      const wrong = typeof value === 'string' ? `--${value} x` : typeof value === 'number' ? -1 : `${value}`
      return (shape[field] as z.ZodType).safeParse(wrong).success && !FREE.has(field)
    }),
  )
  assert.equal(taken, [])
})

/** Texts of people stand behind `=`. */
const FREE = new Set(['title', 'description', 'line'])

test('what helps with any cause is a call, unless it starts a dev', () => {
  assert.ok(advised.size > 8)
  for (const words of advised) {
    const call = callFor(`${words} --as builder`, records)
    if (words.startsWith('dev ')) {
      assert.is(callFor(words, records), undefined)
      continue
    }
    assert.ok(call, `no tool does ${words}`)
    const [name = ''] = words.split(/ (?=\S*[-_.:/{]|my-agent)/)
    assert.ok(
      commandsOf(call).some(line => line.startsWith(name)),
      `${words} is told as ${call}`,
    )
  }
  assert.is(callFor('why task_1a2b3c', records), 'why {"about":"task_1a2b3c"}')
  assert.is(
    callFor(`agents update my-agent --webhook-url '${location}' --as builder`, records),
    `command {"line":"agents update my-agent --webhook-url '${location}' --as builder"}`,
  )
  assert.is(
    callFor("conformance --start 'node agent.js' --seed 7 --only dup.retry --only sig", records),
    'conformance {"only":["dup.retry","sig"],"seed":7}',
  )
  for (const [words, call] of [
    ['agents list --as builder', 'market_status {}'],
    ['tasks show task_1', 'task {"id":"task_1"}'],
    ['exchanges show exchange_7', 'exchange {"id":"exchange_7"}'],
    ['deliveries show dlv_1', 'why {"about":"dlv_1"}'],
    ['why', 'why {}'],
    ['test-connection my-agent', 'test_connection {"agent":"my-agent"}'],
    ['simulate buyer my-agent', 'hire {"agent":"my-agent"}'],
    ['simulate buyer my-agent --revisions 2', undefined],
    [
      'emit task.submitted --to http://localhost:1/x --forge all',
      'emit {"event":"task.submitted","to":"http://localhost:1/x","forge":"all"}',
    ],
    ['emit task.submitted --to http://localhost:1/x --times 2', undefined],
    ['clock show', 'clock {"do":"show"}'],
    ['clock next', 'clock {"do":"next"}'],
    ['clock advance 2h', 'clock {"do":"advance","by":"2h"}'],
    ['conformance --explain sig.valid', 'explain {"check":"sig.valid"}'],
    ['conformance --list', 'explain {}'],
    ['conformance --agent my-agent', undefined],
    ['tasks cancel task_1 --url http://elsewhere --as buyer', 'command {"line":"tasks cancel task_1 --as buyer"}'],
    [
      'agents update my-agent --tag a --tag b --any-revisions',
      'command {"line":"agents update my-agent --tag a --tag b --any-revisions"}',
    ],
  ] as const)
    assert.is(callFor(words, records), call, words)
})

test('what a dev has written into its log is told as calls too, at the ends of sentences', () => {
  const log = 'It is tested again by: marketplace test-connection my-agent\nSee it: npx agent-marketplace dev --new'
  assert.is(
    withCalls(log, records),
    'It is tested again by: test_connection {"agent":"my-agent"}\nSee it: npx agent-marketplace dev --new',
  )
  assert.is(
    withCalls('Try: marketplace why task_1\nand: marketplace clock next\n', records),
    'Try: why {"about":"task_1"}\nand: clock {"do":"next"}\n',
  )
  for (const text of ['The marketplace knows of nothing', 'So: marketplace why a b', 'of marketplace why my-agent'])
    assert.is(withCalls(text, records), text)
})

/** It starts something, signs somebody in, or is about this machine. */
const FOR_A_SHELL =
  /^(?:dev|serve|login|logout|openapi|doctor|verify|sign|db|call|conformance --agent|emit .* --secret)\b/

test('each next step of the program is a call, or for a shell', () => {
  const url = 'http://localhost:3000/hook'
  for (const [name, step] of Object.entries(nextSteps)) {
    const line = (step as (...given: readonly unknown[]) => string)(...argumentsFor(name, step, url))
    const words = line.replace(/^(?:npx agent-)?marketplace /, '')
    const call = callFor(words, records)
    assert.is(call === undefined, FOR_A_SHELL.test(words), `${words} is told as ${call}`)
    if (call) assert.ok(commandsOf(call).length > 0, name)
  }
})

/** The last argument of each is the flags that lead to the same marketplace, and has a default. */
function argumentsFor(name: string, { length }: { readonly length: number }, url: string): readonly unknown[] {
  const flags = ' --as builder'
  if (length === 0) return [flags]
  if (name === 'deposit') return [500, flags]
  if (/^(?:startFor|sign|emit)/.test(name)) return [url]
  if (name === 'helpOf') return ['tasks create']
  if (name === 'wholeList') return ['tasks list', flags]
  if (name === 'forwardAs') return ['my-agent', url]
  return ['my-agent', flags]
}

test('a line is a command that asks the marketplace of this server, and names no file, no key and no other place', () => {
  const { commands } = tools.find(({ name }) => name === 'command')!
  const run = (line: string) => commands({ line }, given)
  assert.equal(run('tasks cancel task_1 --as buyer'), [
    ['tasks', 'cancel', '--as=builder', '--yes', 'task_1', '--as', 'buyer'],
  ])
  assert.equal(run('npx agent-marketplace tasks list'), run('tasks list'), 'as hints have it')
  assert.equal(run('tasks list --search "the marketplace itself"'), [
    ['tasks', 'list', '--as=builder', '--search', 'the marketplace itself'],
  ])
  assert.equal(run(`agents update my-agent --tagline "It's short" --tag a b`), [
    ['agents', 'update', '--as=builder', 'my-agent', '--tagline', "It's short", '--tag', 'a', 'b'],
  ])
  for (const line of [
    'dev',
    'serve --port 1',
    'login --url http://elsewhere',
    'conformance --start "touch x"',
    'agents list --url http://elsewhere',
    'agents list --key=svc_x',
    'agents list --profile other',
    'agents update my-agent --file /etc/passwd',
    'agents create --file=/etc/passwd',
    'tasks deliver task_1 --content @/etc/passwd',
    'tasks deliver task_1 --file /etc/passwd',
    'tasks download task_1 --dir /tmp',
    'tasks download task_1',
    'account password change --password-stdin',
    'agents list --nonsense',
    'db backup a b',
    'exec -- touch x',
    'agents list -x',
    'call GET /api/wallet',
    '',
  ])
    assert.throws(() => run(line), /No command that asks the marketplace/, line)
})

test.run()
