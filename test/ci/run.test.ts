// engines: embedded; process: own
/** .ci/run: what it asks of npm, and what its last line and its exit code tell. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Stage } from './stage.ts'

const test = suite('.ci/run')
const stage = new Stage()
test.after(() => stage.remove())

const HERE = Number.parseInt(process.versions.node, 10)
/** A line that is newer than any. */
const NEWER = 99

function run(newest: number, FAILS = '') {
  stage.change('.github/workflows/ci.yml', text => text.replace(/node: \[.*\]/, `node: ['20.19', '${newest}']`))
  const { status, said } = stage.play('bash .ci/run', { FAILS })
  return { status, said, last: said.trimEnd().split('\n').at(-1), calls: stage.calls() }
}

test('it runs each test in its longest form and the checks here, and the tests once more on the newest Node line of the workflow', () => {
  const { status, last, calls } = run(NEWER)
  assert.is(status, 0)
  assert.is(last, '6 passed, 0 failed')
  const [install] = calls.splice(3, 1)
  assert.match(install!.line, new RegExp(`^npm install .* node-${process.platform}-${process.arch}@${NEWER}$`))
  assert.equal(
    calls.map(({ line }) => line),
    ['npm ci --no-audit --no-fund', 'npm run test -- --whole --again', 'npm run check', 'npm run test -- --again'],
  )
  const [before, after] = [new Set(calls.slice(0, 3).map(({ node }) => node)), calls[3]!.node]
  assert.is(before.size, 1)
  assert.not.ok(before.has(after), 'another Node')
})

test('on the newest line the tests run once', () => {
  const { status, last, calls } = run(HERE)
  assert.equal([status, last, calls.length], [0, '3 passed, 0 failed', 3])
})

for (const [what, FAILS, wanted] of [
  ['an install that fails', 'npm ci *', '6 passed, 1 failed'],
  ['a test', 'npm run test -- *', '4 passed, 2 failed'],
  ['a long proof', 'npm run test -- --whole *', '5 passed, 1 failed'],
  ['a check', 'npm run check', '6 passed, 1 failed'],
  ['a Node that cannot be had', 'npm install *', '3 passed, 1 failed'],
  ['all of them', 'npm *', '2 passed, 2 failed'],
] as const) {
  test(`${what} is counted in the last line, and is exit code 1`, () => {
    const { status, said, last } = run(NEWER, FAILS)
    assert.equal([status, last], [1, wanted])
    assert.is(said.includes("can't be installed"), /^npm (?:install )?\*$/.test(FAILS))
  })
}

test('a matrix that names no line is a failure', () => {
  stage.change('.github/workflows/ci.yml', text => text.replace(/node: \[.*\]/, 'node: []'))
  assert.is(stage.play('bash .ci/run', { FAILS: 'npm install *' }).status, 1)
})

test.run()
