// engines: embedded; process: shared
/** What commands print fits a terminal: sentences break between words, commands stay whole, lists are cut to fit. */
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jsonText } from '../../src/cli/output/json-text.ts'
import type { ListOptions } from '../../src/cli/output/list-rows.ts'
import { columnsOf } from '../../src/cli/output/text-rows.ts'
import { commandLine, paragraph } from '../../src/cli/output/ui.ts'
import { printed } from '../conform/golden/renderings.ts'

const rowsIn = (text: string) => stripVTControlCharacters(text).split('\n').slice(0, -1)
const lineIn = (text: string, columns: number | null) => rowsIn(printed(ui => ui.line(text), columns, true))

test('a sentence ends its rows between words, and goes on below the words behind its mark', () => {
  const said = `\u001b[32m✔\u001b[39m ${'word '.repeat(30)}end`
  for (const columns of [60, 80, 120]) {
    const rows = lineIn(said, columns)
    for (const row of rows) assert.ok(columnsOf(row) <= columns, row)
    assert.ok(rows.slice(1).every(row => /^ {2}\S/.test(row)))
    assert.is(rows.map(row => row.trim()).join(' '), stripVTControlCharacters(said))
  }
  assert.is(lineIn(said, null).length, 1)
})

test('the second column of a finding stays a column', () => {
  const [first, ...rest] = lineIn(`✔ database     ${'It is held by another process. '.repeat(4)}`, 80)
  assert.match(first!, /^✔ database {5}It is/)
  assert.ok(rest.length > 0 && rest.every(row => /^ {15}\S/.test(row)), rest.join('\n'))
})

const SHOW = `npx agent-marketplace deliveries show dlv_${'0'.repeat(32)}`

test('a command stays in one row, further to the left where it needs that, and prose about a marketplace is none', () => {
  const rows = lineIn(`              Why it was given up: ${SHOW}`, 80)
  assert.equal(
    rows.map(row => row.trim()),
    ['Why it was given up:', SHOW],
  )
  assert.equal(lineIn('It is short:\nit stays.', 60), ['It is short:', 'it stays.'])
  assert.equal(lineIn('The agent is one that the marketplace knows nothing of, and no other.', 40), [
    'The agent is one that the marketplace',
    'knows nothing of, and no other.',
  ])
  const prose = lineIn(`The marketplace has no such agent ${'any more '.repeat(12)}`, 60)
  assert.match(prose[0]!, /^The marketplace has no such agent any more/)
})

test('a command that has no room in a row goes on in rows that a shell takes as one', () => {
  const long = `${SHOW} --as builder --agent my-own-agent`
  const rows = lineIn(`Why: ${long}`, 80)
  assert.is(rows[0], 'Why:')
  assert.ok(rows.every(row => columnsOf(row) <= 80))
  assert.is(
    rows
      .slice(1)
      .join('\n')
      .replace(/ \\\n */g, ' ')
      .trim(),
    long,
  )
})

test('a letter takes the columns that a terminal gives it', () => {
  for (const [text, columns] of [
    ['', 0],
    ['letters', 7],
    ['\u001b[32mgreen\u001b[39m', 5],
    ['naïve', 5],
    ['nai\u0308ve', 5],
    ['手紙', 4],
    ['手紙 to an aunt', 15],
    ['かな カナ 한글 ！', 17],
    ['done 🎉', 7],
    ['a\u200bb', 2],
  ] as const)
    assert.is(columnsOf(text), columns, text)
})

test('a cell of wide letters is cut where its column ends, and one that is longer than its row goes on in pieces', () => {
  const letters = [
    ['ID', 'TITLE'],
    ['a', '手紙を叔母に書く'],
    ['b', 'A letter'],
  ]
  assert.equal(list(14, letters), ['ID  TITLE', 'a   手紙を叔…', 'b   A letter'])
  const rows = (text: string) => rowsIn(printed(ui => paragraph(ui, 'why ', text), 24))
  assert.equal(rows(`of ${'x'.repeat(25)} ${'手'.repeat(11)}`), [
    'why of',
    `    ${'x'.repeat(20)}`,
    `    ${'x'.repeat(5)}`,
    `    ${'手'.repeat(10)}`,
    '    手',
  ])
})

test('a command to copy goes on in rows between its flags, further right than its label', () => {
  const line = "marketplace conformance --start 'node agent.mjs --fast' --only dup.retry sig --seed 7"
  const rows = (columns: number | null) => rowsIn(printed(ui => commandLine(ui, '  again', line), columns))
  assert.equal(rows(null), [`  again ${line}`])
  const indent = ' '.repeat(10)
  const start = `${indent}--start 'node agent.mjs --fast' \\`
  assert.equal(rows(60), ['  again marketplace conformance \\', start, `${indent}--only dup.retry sig --seed 7`])
  assert.equal(rows(30), [
    '  again \\',
    `${indent}marketplace conformance \\`,
    start,
    `${indent}--only dup.retry sig \\`,
    `${indent}--seed 7`,
  ])
})

test('a command within a sentence moves to the left where it needs that, and what comes behind it does not', () => {
  const text = `- It failed: see that. Why it was given up: ${SHOW} --as builder, and so on. Each marketplace agents know of is another.`
  const shown = [`${SHOW} \\`, '    --as builder,']
  assert.equal(lineIn(text, 50), [
    '- It failed: see that. Why it was given up:',
    `    ${shown[0]}`,
    shown[1],
    '  and so on. Each marketplace agents know of is',
    '  another.',
  ])
  assert.equal(lineIn(text, 80), [
    '- It failed: see that. Why it was given up:',
    `  ${shown[0]}`,
    shown[1],
    '  and so on. Each marketplace agents know of is another.',
  ])
})

test('words go on below a second column that leaves them half of a row, and else behind the mark', () => {
  const lines = [
    '✔ database     It is held by another process.',
    '✔ a long label of many words  It is held by another process here.',
    '  rows   of a list that go on below themselves, here',
  ]
  assert.equal(lineIn(lines.join('\n'), 40), [
    '✔ database     It is held by another',
    '               process.',
    '✔ a long label of many words  It is held',
    '  by another process here.',
    '  rows   of a list that go on below',
    '         themselves, here',
  ])
})

const table = (columns: number | null, ...rows: string[][]) => rowsIn(printed(ui => ui.table(rows), columns))
const list = (columns: number | null, [head = [], ...entries]: string[][], options?: ListOptions) =>
  rowsIn(printed(ui => ui.list(head, entries, options), columns))

const idEnding = (end: string) => `task_${end.padStart(32, '0')}`
const AT = '2026-11-26T02:20:36.123Z'
const tasks = [
  ['ID', 'STATUS', 'AGREED PRICE', 'TITLE', 'BUYER', 'CREATED'],
  [idEnding('a1b2c3'), 'in_progress', '5.00 EUR', 'A letter to an aunt about letters', 'buyer@example.com', AT],
  [idEnding('d1b2c4'), 'draft', '1,000.00 EUR', 'Two', 'somebody.with.a.long.name@example.com', AT],
]

test('a body of JSON is indented and coloured on a terminal, and elsewhere and of another kind it is as it is', () => {
  const body = '{"a":[1,-2.5e3,true,null],"b:\\"c":"x: 1"}'
  const shown = (text: string, columns: number | null) => printed(ui => ui.raw(jsonText(ui, text)), columns, true)
  assert.is(shown(body, null), `${body}\n`)
  const [name, word, value] = [36, 33, 32].map(colour => (text: string) => `\u001b[${colour}m${text}\u001b[39m`)
  assert.is(
    shown(body, 80),
    `{
  ${name!('"a"')}: [
    ${word!('1')},
    ${word!('-2500')},
    ${word!('true')},
    ${word!('null')}
  ],
  ${name!('"b:\\"c"')}: ${value!('"x: 1"')}
}
`,
  )
  assert.is(shown('{"a":', 80), '{"a":\n')
  assert.is(shown('<p>\u001b[2J</p>', 80), '<p>\\u001b[2J</p>\n')
})

test('a list has one row an entry in every width, and is whole where lines have no end', () => {
  const whole = list(null, tasks)[1]!
  for (const cell of tasks[1]!) assert.ok(whole.includes(cell), cell)
  for (const columns of [160, 120, 100, 80, 60, 40]) {
    const rows = list(columns, tasks)
    assert.is(rows.length, tasks.length, `${columns}`)
    for (const row of rows) assert.ok(columnsOf(row) <= columns, `${columns}: ${row}`)
  }
  assert.equal(list(80, tasks), [
    'ID       STATUS       AGREED PRICE  TITLE         BUYER         CREATED',
    '…a1b2c3  in_progress  5.00 EUR      A letter to…  buyer@examp…  2026-11-26 02:20',
    '…d1b2c4  draft        1,000.00 EUR  Two           somebody.wi…  2026-11-26 02:20',
  ])
})

test('ids are shortened to what tells them apart, times to minutes, the head to the width of its cells, and then texts', () => {
  const ids = [
    [idEnding('11b2c3d4'), AT],
    [idEnding('21b2c3d4'), AT],
  ]
  const two = (columns: number) => list(columns, [['ID', 'AT'], ...ids])[1]!
  assert.match(two(80), AT)
  assert.is(two(50), `…11b2c3d4  ${AT}`, 'six letters do not tell them apart')
  assert.is(two(30), '…11b2c3d4  2026-11-26 02:20')
  const mixed = [
    ['ID', 'AMOUNT', 'TITLE', 'AT'],
    [idEnding('a1b2c3'), '-1,000.00 EUR', 'A long title', `${AT}, again soon`],
  ]
  assert.is(list(50, mixed)[1], '…a1b2c3  -1,000.00 EUR  A long…  2026-11-26 02:20…')
  const flags = [
    ['EMAIL', 'IS BUILDER', 'IS ADMIN', 'SUSPENDED'],
    ['ann@example.com', 'yes', 'no', 'no'],
  ]
  assert.equal(list(40, flags), ['EMAIL            IS BU…  IS AD…  SUSPE…', 'ann@example.com  yes     no      no'])
  const yes = '\u001b[32myes, and everything is well\u001b[39m'
  const coloured = printed(ui => ui.list(['SLUG', 'LISTED'], [['my-agent', yes]]), 20, true)
  assert.match(coloured, '\u001b[32myes, and …\u001b[39m')
  assert.is(rowsIn(coloured)[1], 'my-agent  yes, and …')
})

test('what people type stands whole for longer than other texts, until nothing has room', () => {
  const agents = [
    ['SLUG', 'TAGLINE', 'AT'],
    ['a-translator-of-letters', 'Translates letters to aunts', 'never'],
    ['b', idEnding('a1b2c3'), `see ${idEnding('a1b2c3')}`],
  ]
  assert.equal(list(46, agents), [
    'SLUG                     TAGLINE    AT',
    'a-translator-of-letters  Translat…  never',
    'b                        …a1b2c3    see task…',
  ])
  assert.equal(list(20, agents), ['SLUG   TAGL…  AT', 'a-tr…  Tran…  never', 'b      …a1b…  see …'])
  assert.equal(list(3, agents), ['…  …  …', '…  …  …', 'b  …  …'])
})

test('a list whose last column is words goes on below it', () => {
  const words = 'Nothing listens there. '.repeat(4).trim()
  const rows = list(
    60,
    [
      ['ATTEMPT', 'AT', 'MESSAGE'],
      ['1', AT, words],
    ],
    { wraps: true },
  )
  assert.match(rows[1]!, /^1 {8}2026-11-26T02:20:36\.123Z {2}Nothing listens/)
  assert.ok(rows.length > 2 && rows.slice(2).every(row => /^ {35}\S/.test(row)), rows.join('\n'))
  const short = list(
    40,
    [
      ['ATTEMPT', 'AT', 'MESSAGE'],
      ['1', AT, 'Nothing listens there at all.'],
    ],
    { wraps: true },
  )
  assert.equal(
    short,
    ['ATT…  AT            MESSAGE', '1     2026-11-26 …  Nothing listens', '                    there at all.'],
    'words keep room: what stands before them is shortened',
  )
})

test('a long last cell goes on below itself, between words', () => {
  const words = 'The webhook is unproven: the last pass is more than 24 hours old.'
  const rows = table(60, ['slug', 'my-agent'], ['listed', words])
  assert.equal(rows.slice(0, 2), ['slug    my-agent', 'listed  The webhook is unproven: the last pass is more than'])
  assert.is(rows[2], `${' '.repeat(8)}24 hours old.`)
})

test.run()
