// engines: embedded; process: shared
/** What is too long is named, and an exception can only shrink. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { excessOf, faultsIn, shrunk } from './lengths.ts'

const lines = (count: number) => 'x()\n'.repeat(count)
const functionOf = (count: number) => `function f() {\n${lines(count - 2)}}\n`

const measured = { 'a.ts': { lines: 320, functions: [90, 70] } }

test('every line of a file and of a function counts, from the first to the last, the longest function first', () => {
  assert.equal(excessOf(lines(300)), {})
  assert.equal(excessOf(lines(301)), { lines: 301 })
  assert.equal(excessOf(functionOf(60)), {})
  assert.equal(excessOf(functionOf(61)), { functions: [61] })
  const closure = `const f = async (a: number) => {\n\n  /*\n\n*/\n${functionOf(70)}}\nclass A { m() {\n${lines(80)}} }\n`
  assert.equal(excessOf(closure), { functions: [82, 76, 70] })
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

test('nobody adds an exception', () => {
  const excepted = Object.keys(JSON.parse(readFileSync('test/lengths/exceptions.json', 'utf8')))
  assert.ok(excepted.length <= 43, `${excepted.length} exceptions`)
  const ofSource = ['api/endpoints/tasks', 'api/records', 'store/embedded/database']
    .concat('store/embedded/journal', 'store/embedded/statements')
    .map(name => `src/${name}.ts`)
  assert.equal(
    excepted.filter(path => path.startsWith('src/') && !ofSource.includes(path)),
    [],
  )
})

test.run()
