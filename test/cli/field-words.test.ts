// engines: embedded; process: shared
/** Refusals name what people typed: the flag or the argument of each field, of every command that sends one request. */
import { writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as z from 'zod'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { wholeTable } from '../../src/cli/command-table.ts'
import type { EndpointRow } from '../../src/cli/endpoint/row.ts'
import { sameNames } from '../support/same-names.ts'
import { endpointRows } from './endpoint-rows.ts'
import { answerHere, enterDev, runHere } from './in-process.ts'
import { run } from './program.ts'

const here = enterDev(test)

type Shape = Readonly<Record<string, z.ZodType>>

const shapeOf = ({ endpoint }: EndpointRow): Shape => {
  const { body, query } = endpoints[endpoint] as Endpoint
  return { ...query?.shape, ...(body instanceof z.ZodObject ? body.shape : {}) }
}

/** The arguments of a row. The agent is one that is there, as it is looked up. */
const NAMED: Readonly<Record<string, string>> = { agent: 'sample-agent', category: 'writing' }
const argumentsOf = ({ takes = [] }: EndpointRow) => takes.map(([word, , kind]) => NAMED[kind ?? word] ?? 'anything')

const flagOf = (flags: string) => flags.split(' ')[0]!

/** Flags with a value that is sent as it stands. */
const valued = ({ flags = [] }: EndpointRow) =>
  flags.flatMap(([flag, , sets, kind]) => (typeof sets === 'string' && !kind ? [[flag, sets] as const] : []))

test('every field of a request has a flag, an argument or a question', () => {
  const lacking = endpointRows
    // One that sets a field by itself is for that field alone.
    .filter(({ sets }) => !sets)
    .flatMap(row => {
      const { flags = [], takes = [], asks = [] } = row
      const flagged = flags.flatMap(([, , sets]) => (typeof sets === 'string' ? [sets] : Object.keys(sets)))
      const filled = [...flagged, ...takes.map(([, field]) => field), ...asks.map(([field]) => field)]
      return Object.keys(shapeOf(row)).flatMap(field => (filled.includes(field) ? [] : [`${row.name}: ${field}`]))
    })
  sameNames(lacking, ['admin users update: secondFactor'], 'its command is admin users reset-second-factor')
})

test('a command without what its request needs names the flags before it asks anybody', async () => {
  let tried = 0
  for (const row of endpointRows) {
    const shape = shapeOf(row)
    const needed = (row.flags ?? []).filter(
      ([, , sets]) => typeof sets === 'string' && !shape[sets]!.safeParse(undefined).success,
    )
    if (needed.length === 0) continue
    tried++
    // Nobody listens there.
    const away = ['--url', 'http://127.0.0.1:1', '--key', `svc_${'0'.repeat(48)}`]
    const words = row.name.split(' ')
    const { code, err } = await runHere(...words, ...argumentsOf(row), ...away)
    assert.is(code, 2, `${row.name}: ${err}`)
    const names = needed.map(([flag]) => flagOf(flag))
    assert.ok(err.startsWith(`${row.name} needs ${names.join(', ')}. `), `${row.name}: ${err}`)
    assert.match(err, row.file ? 'or all fields in --file' : `marketplace ${row.name} --help`)
  }
  assert.ok(tried > 7, `${tried}`)
})

/** A value that the field does not take, and that the command line lets through. */
const wrongFor = (schema: z.ZodType) =>
  ['', '-1', '1', 'x'.repeat(9_000), 'x'.repeat(60_000)].find(
    text => !schema.safeParse(text).success && !(/\d/.test(text) && schema.safeParse(Number(text)).success),
  )

/** What the request needs besides, with values of the right form. */
const rightFor: Readonly<Record<string, string>> = {
  agentId: 'sample-agent',
  title: 'A short letter',
  description: 'Count the words of this letter, please.',
  agreedPrice: '5.00',
  maxPerTask: '5.00',
  maxDaily: '5.00',
  maxMonthly: '5.00',
  reason: 'It has to be another one, please.',
  outcome: 'refund',
  rating: '5',
  name: 'Music',
  output: 'Guten Tag',
}

function othersOf(row: EndpointRow, but: string): string[] {
  const shape = shapeOf(row)
  const others = (row.flags ?? []).filter(
    ([, , sets]) => typeof sets === 'string' && sets !== but && !shape[sets]!.safeParse(undefined).success,
  )
  return others.flatMap(([flag, , sets]) => [flagOf(flag), rightFor[sets as string]!])
}

test('what the marketplace refuses has the name of its flag, and with --json that of the field', async () => {
  let tried = 0
  for (const row of endpointRows.filter(({ asks }) => !asks)) {
    const shape = shapeOf(row)
    for (const [flag, field] of valued(row)) {
      const wrong = wrongFor(shape[field]!)
      if (wrong === undefined) continue
      tried++
      const yes = row.confirms ? ['--yes'] : []
      const line = [...row.name.split(' '), ...argumentsOf(row), flagOf(flag), wrong, ...othersOf(row, field), ...yes]
      const { code, err } = await runHere(...line)
      const told = `${row.name} ${flag}: ${err}`
      // A price that is none is refused by the command line itself.
      assert.ok([1, 2].includes(code!), told)
      assert.match(err, code === 2 ? `${flagOf(flag)} ` : `\n  ${flagOf(flag)}: `, told)
      if (code === 2) continue
      assert.match(err, /^Validation failed\.\n/, told)
      const { errors } = await answerHere(...line)
      assert.ok(errors[field], `${told} ${JSON.stringify(errors)}`)
    }
  }
  assert.ok(tried > 40, `${tried}`)
})

test('what an argument fills has its name', async () => {
  for (const [line, says] of [
    [['wallet', 'deposit', '0.01'], '<amount>: '],
    [['tasks', 'message', 'anything', ''], '<text>: '],
    [['account', 'totp', 'confirm', 'x'.repeat(300)], '<code>: '],
  ] as const) {
    const { code, err } = await runHere(...line)
    assert.is(code, 1, `${line.join(' ')}: ${err}`)
    assert.match(err, `Validation failed.\n  ${says}`, err)
  }
})

test('what a question fills has its words', async () => {
  const typed = `${here.ready.accounts.buyer.password}\nshort\n`
  const { code, err } = await run(['account', 'password', 'change', '--password-stdin'], here.folder, {}, typed)
  assert.is(code, 1, err)
  assert.match(err, /^Validation failed\.\n {2}The new one: must have /)
})

test('commands of more than one request name their flags too, and a file keeps its names', async () => {
  const create = ['agents', 'create', '--name', 'Life Agent', '--tagline', 'x', '--base-price', '5.00']
  const described = ['--description', 'Answers each task with its own title, for tests alone.', '--category', 'code']
  assert.match((await runHere(...create, ...described)).err, '\n  --tagline: must have ')
  assert.match((await runHere('tasks', 'deliver', 'anything', '--content', '')).err, '\n  --content: ')
  writeFileSync('task.json', JSON.stringify({ title: 'x', description: rightFor.description, agreedPrice: 500 }))
  const { err } = await runHere(
    'tasks',
    'create',
    '--file',
    'task.json',
    '--agent',
    'sample-agent',
    '--requirements',
    '',
  )
  assert.match(err, '\n  title: must have ')
})

test('every fill of a command is one of its own flags, arguments or questions', async () => {
  const { chapters } = await wholeTable()
  for (const { name, fills, options, takes = [] } of chapters.flatMap(([, records]) => records)) {
    const asked = endpointRows.find(row => row.name === name)?.asks ?? []
    const known = [
      ...options.map(([flags]) => flagOf(flags)),
      ...takes,
      ...asked.map(([, question]) => question.slice(0, -1)),
    ]
    for (const [field, word] of fills?.() ?? []) assert.ok(known.includes(word), `${name}: ${field} by ${word}`)
  }
})

test('the price of an agent is set by --price, as that of a task, or by --base-price, and not by both', async () => {
  const priced = async (...flags: string[]) => answerHere('agents', 'update', 'sample-agent', ...flags)
  assert.is((await priced('--price', '7.50')).data.basePrice, 750)
  assert.is((await priced('--base-price', '5.00')).data.basePrice, 500)
  const both = await priced('--price', '6.00', '--base-price', '6.00')
  assert.is(both.code, 2)
  assert.match(both.error, 'contradicts another flag')
  const unsure = await runHere('agents', 'update', 'sample-agent', '--price', '500')
  assert.is(unsure.code, 2)
  assert.match(
    unsure.err,
    '--price takes an amount with two decimals, like 5.00, not 500: 500.00, or 5.00 if these are cents.',
  )
  assert.is((await priced('--price', '1,234.00')).data.basePrice, 123_400)
  assert.is((await priced('--price', '5.00')).data.basePrice, 500)
  const low = await runHere('agents', 'update', 'sample-agent', '--price', '0.01')
  assert.match(low.err, '\n  --price: must be at least 2.00')
})

test.run()
