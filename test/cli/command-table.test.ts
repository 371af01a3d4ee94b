// engines: embedded; process: shared
/** The records of the commands: help of each, a command for each endpoint, flags that are fields. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { otherWords } from '../../src/cli/command-line/other-words.ts'
import { commandsOf, wholeTable } from '../../src/cli/command-table.ts'
import { wrappedExample, wrappedNotes } from '../../src/cli/parser.ts'
import { commandsPage } from '../docs/commands-page.ts'
import { sameNames } from '../support/same-names.ts'
import { endpointRows } from './endpoint-rows.ts'
import { runHere } from './in-process.ts'

const { chapters, groups } = await wholeTable()
const commands = chapters.flatMap(([, records]) => records)

/** What every start reads of the built program: its first file, and what that imports at once. */
function readAtStart(path = BUNDLE, seen = new Map<string, string>()): string {
  if (seen.has(path)) return ''
  const text = readFileSync(path, 'utf8')
  seen.set(path, text)
  for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)"(\.\/[^"]+)"/g))
    readAtStart(join(dirname(path), name!), seen)
  // Long lines are cut within texts.
  return [...seen.values()].join('\n').replaceAll('\\\n', '')
}

const BUNDLE = fileURLToPath(new URL('../../dist/bundle/main.js', import.meta.url))

test('a command line loads the commands of its first word, and a start loads none', async () => {
  for (const [, records] of chapters) {
    for (const { name } of records) {
      const [first = ''] = name.split(' ')
      const own = records.filter(record => record.name.split(' ')[0] === first)
      assert.equal(await commandsOf(first), own, name)
    }
  }
  assert.is(await commandsOf('nothing'), undefined)
  const text = readAtStart()
  assert.match(text, 'A whole marketplace for AI agents')
  // The list of the help has their summaries, groups have some examples, and short ones are parts of other texts.
  const shown = Object.values(groups).flatMap(({ examples }) => examples)
  const own = commands.flatMap(({ examples }) => examples).filter(one => !shown.some(text => text.includes(one)))
  for (const example of own.filter(({ length }) => length > 30)) assert.not(text.includes(example), example)
})

/** Endpoints that no person calls by a command of their own, and why. */
const withoutCommand: Readonly<Record<string, string>> = {
  watchChanges: 'for pages, which read anew what it names; tasks watch and logs --follow tell people',
  getMyAgent: 'agents show asks getAgent, which returns the same to the builder',
  listMySamples: 'agents samples list asks listSamples, which returns the same to the builder',
  listDeliveries: 'deliveries list asks listMyDeliveries for its agent',
  redeliver: 'deliveries resend asks resendDeliveries, which sends many with one request',
  agentAccept: 'for agents; a builder accepts by hand with tasks accept',
  agentCallback: 'signed by agents, with agent-marketplace/webhooks',
  testCallback: 'signed by agents in a connection test',
}

test('every endpoint that a person may call has a command, or a reason why it has none', () => {
  const forPeople = Object.entries(endpoints).flatMap(([name, { path }]) =>
    path.startsWith('/api/dev/') ? [] : [name],
  )
  const called = new Set<string>(commands.flatMap(({ endpoints: names = [] }) => names))
  const withCommand = forPeople.filter(name => called.has(name))
  sameNames([...withCommand, ...Object.keys(withoutCommand)], forPeople, 'a command, or a line of `withoutCommand`')
  for (const reason of Object.values(withoutCommand)) assert.ok(reason.length > 10)
})

test('what a row sets and shows is there in its endpoint', () => {
  for (const { name, endpoint, takes = [], flags = [], sets = {}, asks = [] } of endpointRows) {
    const { path, query, body } = endpoints[endpoint] as Endpoint
    const fields = [
      ...[...path.matchAll(/:(\w+)/g)].map(([, field]) => field!),
      ...Object.keys({ ...query?.shape, ...(body as { shape?: object } | undefined)?.shape }),
    ]
    const used = [
      ...takes.map(([, field]) => field),
      ...flags.flatMap(([, , set]) => (typeof set === 'string' ? [set] : Object.keys(set))),
      ...Object.keys(sets),
      ...asks.map(([field]) => field),
    ]
    for (const field of used) assert.ok(fields.includes(field), `${name}: ${field}`)
    const parts = [...path.matchAll(/:(\w+)/g)].map(([, field]) => field!)
    for (const part of parts)
      assert.ok(
        takes.some(([, field]) => field === part),
        `${name} does not take ${part}`,
      )
  }
})

test('the help of a command names its flags, and each of its examples can be parsed', async () => {
  for (const { name, options } of commands) {
    // Its help is that of the program.
    if (name === 'help') continue
    const words = name.split(' ')
    const { code, out, err } = await runHere(...words, '--help')
    assert.is(code, 0, err)
    assert.match(out, `Usage: marketplace ${name}`)
    const examples = [...out.replaceAll(/ \\\n +/g, ' ').matchAll(/^ {2}\$ (.*)$/gm)].map(match => match[1]!)
    assert.ok(examples.length >= 2, `${name} has ${examples.length} examples`)
    for (const example of examples) {
      assert.ok(example.includes(`marketplace ${name}`), example)
      for (const [flag] of example.matchAll(/(?<= )--[a-z-]+/g)) assert.ok(out.includes(`${flag} `), `${name}: ${flag}`)
    }
    // mcp speaks JSON and nothing else.
    assert.is(
      options.some(([flag]) => flag === '--json'),
      name !== 'mcp',
      `${name} has no --json`,
    )
  }
})

test('the page of the commands has each with its words, its flags, its notes and its examples', () => {
  assert.fixture(commandsPage({ chapters, groups }), readFileSync('docs/reference/commands.md', 'utf8'))
})

test('each group says what it is about, with examples of its own commands', async () => {
  const used = new Set(
    commands.flatMap(({ name }) =>
      name.split(' ').flatMap((_, at, words) => (at > 0 ? [words.slice(0, at).join(' ')] : [])),
    ),
  )
  sameNames(Object.keys(groups), used)
  for (const [name, { examples }] of Object.entries(groups)) {
    const { code, out } = await runHere(...name.split(' '), '--help')
    assert.is(code, 0)
    for (const example of examples) {
      assert.match(out, `$ ${example}`)
      const said = example.replace(/^marketplace /, '')
      assert.ok(said.startsWith(`${name} `), example)
      assert.ok(
        commands.some(command => said === command.name || said.startsWith(`${command.name} `)),
        example,
      )
    }
  }
})

test('no line of any help is wider than 80 columns, and a list has one line for each command', async () => {
  for (const name of ['', ...Object.keys(groups), ...commands.map(({ name }) => name)]) {
    const { out } = await runHere(...name.split(' ').filter(Boolean), '--help')
    for (const line of out.split('\n')) assert.ok(line.length <= WIDTH, `${name}: ${line}`)
    if (commands.some(command => command.name === name)) continue
    const [, list = ''] = /\n\n[^\n]+:\n( {2}\w.*?)\n\nExamples:/s.exec(out.slice(out.indexOf('-h, --help'))) ?? []
    for (const line of list.split('\n')) assert.match(line, /^(?:$| {2}\w|\S)/, `${name}: ${list}`)
  }
})

const WIDTH = 80

test('examples are broken where a shell goes on, between flags, and notes below their own column', () => {
  const example = `marketplace emit task.message --to http://127.0.0.1:3000/webhook --field 'data.message=Not a --flag' --strict`
  assert.is(
    wrappedExample(example),
    `  $ marketplace emit task.message --to http://127.0.0.1:3000/webhook \\
      --field 'data.message=Not a --flag' --strict`,
  )
  const long = 'word '.repeat(20).trim()
  assert.is(
    wrappedNotes(`Some:\n  NAME  ${long}\n        and more\nOne.\nTwo.`),
    `Some:\n  NAME  ${'word '.repeat(14).trim()}\n        ${'word '.repeat(6)}and more\nOne. Two.`,
  )
})

test('the help of the program names every command once, and fits a screen', async () => {
  const { out } = await runHere('--help')
  for (const { name } of commands) assert.match(out, new RegExp(`^  ${name.split(' ')[0]} `, 'm'))
  assert.ok(out.split('\n').length < 80, `${out.split('\n').length} lines`)
  assert.is((await runHere('help')).out, out)
  assert.is((await runHere('help', 'tasks', 'list')).out, (await runHere('tasks', 'list', '--help')).out)
})

const wrong: [words: string[], first: string, advice: string][] = [
  [['agnts', 'list'], "unknown command 'agnts'", 'Did you mean agents?'],
  [['agents', 'lst'], "unknown command 'lst'", 'marketplace agents --help'],
  [['tasks', 'review', 'shwo'], "unknown command 'shwo'", 'Did you mean show?'],
  [['tasks', 'list', '--stauts', 'draft'], "unknown option '--stauts'", 'Did you mean --status?'],
  [['tasks', 'show'], "missing required argument 'task-id'", 'marketplace tasks show --help'],
  [['keys'], 'Which command?', 'marketplace keys create'],
]

for (const [words, first, advice] of wrong) {
  test(`${words.join(' ')} says what is wrong and where help is, to people and to programs`, async () => {
    const people = await runHere(...words)
    assert.is(people.code, 2)
    assert.is(people.out, '')
    assert.match(people.err, advice)
    const programs = await runHere(...words, '--json')
    assert.is(programs.code, 2)
    assert.is(programs.out.split('\n').length, 2, programs.out)
    const { success, error, hint } = JSON.parse(programs.out)
    assert.is(success, false)
    assert.is(error, first)
    assert.match(hint, advice)
  })
}

test('what other command lines call it leads to a command of this one', async () => {
  const { chapters } = await wholeTable()
  const records = chapters.flatMap(([, commands]) => commands)
  const own = new Set(records.map(({ name }) => name.split(' ')[0]))
  for (const [word, line] of Object.entries(otherWords)) {
    assert.not(own.has(word), `${word} is a command`)
    const words = line.split(' ')
    const record = records.find(({ name }) => line === name || line.startsWith(`${name} `))
    assert.ok(record, `${word}: ${line}`)
    for (const flag of words.filter(one => one.startsWith('--') && one !== '--help'))
      assert.ok(
        record.options.some(([known]) => known.split(/,? /).includes(flag)),
        `${word}: ${line}`,
      )
  }
  const { code, err } = await runHere('listen')
  assert.is(code, 2)
  assert.is(
    err,
    'error: there is no listen here; this does it:\n(marketplace dev --forward-to http://localhost:3000/webhook)\n',
  )
})

test.run()
