// engines: embedded; process: shared
/** Rows of the embedded engine become objects. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowReader } from '../../src/store/embedded/row-reader.ts'

/** Whatever an alias may be. */
const names = [
  'id',
  'agentId',
  'class',
  '0',
  'count(*)',
  `it's "quoted"`,
  '\\',
  '`$',
  'näme',
  '\u2028',
  '',
  'a\nb',
  '*/',
]
const row = { value: (column: number) => column * 10 }
const expected = names.map((name, column) => [name, column * 10])

test('each column is read by its place, whatever it is called', () => {
  assert.equal(Object.entries(rowReader(names)(row)).sort(), expected.sort())
  assert.equal(rowReader([])(row), {})
})

test('a row is the same where code may not be made of text', () => {
  const { Function: kept } = globalThis
  globalThis.Function = (() => {
    throw new EvalError('Code generation from strings disallowed for this context')
  }) as never
  try {
    assert.equal(Object.entries(rowReader(names)(row)).sort(), expected.sort())
  } finally {
    globalThis.Function = kept
  }
})

test.run()
