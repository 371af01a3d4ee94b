// engines: embedded; process: shared
/** Where people are advised to type a command, a client of `mcp` is advised to make a call that does the same. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as z from 'zod'
import { toRecord } from '../../src/api/diagnosis/record.ts'
import { causeNames } from '../../src/api/diagnosis/table.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import { nextSteps } from '../../src/cli/connection/next-steps.ts'
import { callFor, withCalls } from '../../src/cli/mcp/advice.ts'
import { type Given, tools } from '../../src/cli/mcp/tools.ts'

const { chapters } = await wholeTable()
const records = chapters.flatMap(([, records]) => records)
const given: Given = { reach: ['--as=builder'], agent: ['--start=node agent.js'], secret: [], history: 'none', records }

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
    callFor("conformance --start 'node agent.js' --seed 7 --only dup.retry", records),
    'conformance {"only":["dup.retry"],"seed":7}',
  )
})

test('what a dev has written into its log is told as calls too, at the ends of sentences', () => {
  const log = 'It is tested again by: marketplace test-connection my-agent\nSee it: npx agent-marketplace dev --new'
  assert.is(
    withCalls(log, records),
    'It is tested again by: test_connection {"agent":"my-agent"}\nSee it: npx agent-marketplace dev --new',
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
