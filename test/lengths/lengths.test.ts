// engines: embedded; process: own
/** What is too long is named, and an exception can only shrink. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { excessesOf, faultsIn, shrunk } from './lengths.ts'

const long = (category: string, path: string, lines: number) => ({
  category: `lint/${category}`,
  message: `This has too many lines (${lines}). Maximum allowed is 60.`,
  location: { path },
})
const FILE = 'style/noExcessiveLinesPerFile'
const FUNCTION = 'complexity/noExcessiveLinesPerFunction'

const measured = excessesOf([long(FUNCTION, 'a.ts', 70), long(FILE, 'a.ts', 320), long(FUNCTION, 'a.ts', 90)])

test('what is too long is measured by file, the longest function first', () => {
  assert.equal(measured, { 'a.ts': { lines: 320, functions: [90, 70] } })
  assert.throws(() => excessesOf([{ ...long(FILE, 'a.ts', 320), message: 'Far too long' }]), 'in other words')
})

test('an exception holds as long as it is needed and has not grown', () => {
  assert.equal(faultsIn(measured, measured), [])
  assert.equal(faultsIn(measured, { 'a.ts': { lines: 330, functions: [90, 80] } }), [])
  assert.equal(faultsIn(measured, { 'a.ts': { lines: 319, functions: [90, 70] } }), [
    'a.ts has grown from 319 to 320 lines: first move a part of it that stands for itself into a file of its own',
  ])
  assert.equal(faultsIn(measured, { 'a.ts': { lines: 320, functions: [90] } }), [
    'a function of a.ts has 70 lines: split it by idea',
  ])
  assert.equal(faultsIn({}, { 'a.ts': { lines: 320 }, 'b.ts': { functions: [61] } }), [
    'a.ts is excepted, and short enough',
    'a function of b.ts is excepted, and short enough',
  ])
})

test('exceptions are lowered and taken out, and never added or raised', () => {
  assert.equal(shrunk(measured, { 'a.ts': { lines: 330, functions: [80, 75, 61] }, 'b.ts': { lines: 301 } }), {
    'a.ts': { lines: 320, functions: [80, 70] },
  })
  assert.equal(shrunk(measured, { 'a.ts': { functions: [90] } }), { 'a.ts': { functions: [90] } })
  assert.equal(shrunk(measured, {}), {})
})

test.run()
