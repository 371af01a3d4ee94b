// engines: embedded; process: shared
/** What commands print fits a terminal: sentences break between words, commands stay whole, wide tables fold. */
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnsOf } from '../../src/cli/output/text-rows.ts'
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

const table = (columns: number | null, ...rows: string[][]) => rowsIn(printed(ui => ui.table(rows), columns))
const ID = 'x'.repeat(36)
const list = [
  ['ID', 'AGENT', 'TASK', 'CREATED'],
  [ID, 'one', ID, '2026'],
  [ID, 'another', ID, '2027'],
]

test('columns of a table that have no room stand below the others, aligned', () => {
  assert.equal(table(80, ...list), [
    `ID${' '.repeat(36)}AGENT`,
    `  TASK${' '.repeat(34)}CREATED`,
    `${ID}  one`,
    `  ${ID}  2026`,
    `${ID}  another`,
    `  ${ID}  2027`,
  ])
  assert.is(table(120, ...list).length, 3)
  assert.is(table(null, ...list).length, 3)
})

test('a long last cell goes on below itself, between words', () => {
  const words = 'The webhook is unproven: the last pass is more than 24 hours old.'
  const rows = table(60, ['slug', 'my-agent'], ['listed', words])
  assert.equal(rows.slice(0, 2), ['slug    my-agent', 'listed  The webhook is unproven: the last pass is more than'])
  assert.is(rows[2], `${' '.repeat(8)}24 hours old.`)
})

test.run()
