// engines: embedded; process: shared
/** What counts after a second run. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Outcome, withSecondRuns } from './second-runs.ts'

const outcome = (file: string, passed: number, failed: number): Outcome => ({
  file,
  engine: 'embedded',
  passed,
  failed,
  output: '',
  ms: 1,
  cpuMs: 1,
})

/** Runs `first`; a file alone gives what `alone` says of it. */
async function judge(first: Outcome[], alone: Record<string, Outcome>) {
  const told: string[] = []
  const ran: string[] = []
  const runAlone = async (file: string) => {
    ran.push(file)
    return [alone[file]!]
  }
  const judged = await withSecondRuns(first, runAlone, line => told.push(line))
  return {
    ran,
    passed: judged.reduce((sum, one) => sum + one.passed, 0),
    failed: judged.reduce((sum, one) => sum + one.failed, 0),
    unsteady: told.filter(line => line.startsWith('UNSTEADY')),
  }
}

test('a file that passes alone counts as passed, and is named', async () => {
  const { passed, failed, unsteady } = await judge([outcome('a', 5, 0), outcome('b', 2, 1)], { b: outcome('b', 3, 0) })
  assert.equal([passed, failed], [8, 0])
  assert.equal(unsteady, ['UNSTEADY b (embedded): it failed beside others and passed alone'])
})

test('a file that fails twice has failed, and so has one that says nothing the second time', async () => {
  for (const second of [outcome('b', 2, 1), outcome('b', 0, 0)]) {
    const { passed, failed, unsteady } = await judge([outcome('a', 5, 0), outcome('b', 2, 1)], { b: second })
    assert.equal([passed, failed, unsteady], [7, 1, []])
  }
})

test('a process that ended badly has all its files run again, and their tests count once', async () => {
  const left: Outcome = { ...outcome('a, b', 0, 1), afterAll: true }
  const alone = { a: outcome('a', 5, 0), b: outcome('b', 3, 0) }
  const good = await judge([alone.a, alone.b, left], alone)
  assert.equal([good.ran, good.passed, good.failed], [['a', 'b'], 8, 0])
  const bad = await judge([alone.a, alone.b, left], { ...alone, b: outcome('b', 2, 1) })
  assert.equal([bad.passed, bad.failed], [8, 1])
})

test('nothing runs again when all has passed, or when so much failed that it is no accident', async () => {
  assert.equal((await judge([outcome('a', 5, 0)], {})).ran, [])
  const many = ['a', 'b', 'c', 'd'].map(file => outcome(file, 0, 1))
  const { ran, failed } = await judge(many, {})
  assert.equal([ran, failed], [[], 4])
})

test.run()
