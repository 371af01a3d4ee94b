// engines: embedded; process: shared
/** Every test file has tests, and runs them all. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { code, type Files, read } from './sources.ts'

/** Makes a suite of what it is given, and runs it: test/store/row-effects.ts. */
const MAKES_A_SUITE = /^testRows\(/m
/** Makes tests of what it is given: test/conform/edge.ts, test/agents/typical-plays.ts. */
const MAKES_A_TEST = /^(?:edge|playMistakes)\(/m

/** uvu says nothing of a suite that is never run. */
function testFaults(files: Files): string[] {
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    const lines = code(text)
    if (MAKES_A_SUITE.test(lines)) continue
    const named = [...lines.matchAll(/^(?:const|let)\s+(\w+)\s*=\s*suite\b/gm)].map(match => match[1]!)
    const plain = /import\s*\{[^}]*\btest\b(?!\s+as)[^}]*\}\s*from\s*'uvu'/.test(lines) ? ['test'] : []
    const suites = [...plain, ...named]
    if (suites.length === 0) faults.push(`${path} has no suite`)
    for (const name of suites) {
      const calls = new RegExp(`(?<![.\\w'"\`])${name}\\s*\\(`)
      if (!calls.test(lines) && !MAKES_A_TEST.test(lines)) faults.push(`${path}: ${name} has no test`)
      if (!new RegExp(`^${name}\\.run\\(\\)`, 'm').test(lines)) faults.push(`${path}: ${name} is never run`)
      if (new RegExp(`^\\s*${name}\\.(?:only|skip)\\b`, 'm').test(lines))
        faults.push(`${path}: ${name} leaves tests out`)
    }
  }
  return faults
}

test('every test file has tests, and runs them all', () => {
  assert.equal(testFaults(read('test', '.test.ts')), [])
  const use = "import { test } from 'uvu'\n"
  const one = "test('a', () => {})\n"
  assert.equal(testFaults({ a: `${use}${one}test.run()\n` }), [])
  assert.equal(testFaults({ a: use + one }), ['a: test is never run'])
  assert.equal(testFaults({ a: `${use}edge('a.b', '', {})\n` }), ['a: test is never run'])
  assert.equal(testFaults({ a: `${use}${one}// test.run()\n` }), ['a: test is never run'])
  assert.equal(testFaults({ a: `${use}test.run()\n` }), ['a: test has no test'])
  assert.equal(testFaults({ a: `${use}${one}test.${'only'}('b', () => {})\ntest.run()\n` }), [
    'a: test leaves tests out',
  ])
  assert.equal(testFaults({ a: '' }), ['a has no suite'])
  assert.equal(testFaults({ a: "const s = suite('x')\ns('a', () => {})\n" }), ['a: s is never run'])
})

test.run()
