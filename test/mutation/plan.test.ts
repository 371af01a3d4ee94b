// engines: embedded; process: own; lengths: long
/** Which tests a change is tried against, and in which order. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Job } from '../support/jobs.ts'
import { sceneOf } from './find.ts'
import { type Batch, planFor } from './plan.ts'
import type { Reach } from './reach.ts'

const mutant = sceneOf('src/shop/price.ts', 'export const price = (cents: number) => cents + 1').mutants[0]!
const job: Job = { file: 'shop/price.test.ts', engine: 'embedded', shares: false }
const namesOf = ({ tests }: Batch) => tests.map(({ name }) => name)

test('tests that are about a file, by name or by what they come to, are tried before those that pass through', () => {
  const reach = (file: string, numbers: number[], ms = 1_000, engine: Job['engine'] = 'embedded'): Reach => ({
    ...{ file, engine, ms: 500 + ms, numbers: [], shares: true, passed: true, tests: [{ name: 'one', ms, numbers }] },
  })
  const through = reach('web/through.test.ts', [0, 7])
  const about = reach('web/about.test.ts', [0, 7, 8, 9], 3_000)
  const named = reach('shop/price.test.ts', [0, 7], 2_000)
  const again = reach('web/about.test.ts', [0, 7, 8, 9], 3_000, 'postgres')
  const broken = { ...through, file: 'web/broken.test.ts', passed: false }
  const elsewhere = reach('web/elsewhere.test.ts', [8, 9])
  const plan = planFor(mutant, [0], [again, through, broken, elsewhere, about, named], [7, 8, 9])
  assert.equal(
    plan.map(batch => batch.reach),
    [named, about, through, again],
  )
  const inPostgres = { ...mutant, file: 'src/store/postgres/errors.ts' }
  assert.is(planFor(inPostgres, [0], [through]).length, 1, 'a file of one engine has tests without it')
  assert.is(planFor({ ...inPostgres, operator: 'sql hint' }, [0], [through]).length, 0, 'only Postgres reads its hints')
})

test('of a file, the tests that come to a change are tried, the best of them first; all of them if it was made around them', () => {
  const tests = [
    { name: 'slow', ms: 9_000, numbers: [0, 7] },
    { name: 'elsewhere', ms: 10, numbers: [7] },
    { name: 'quick', ms: 10, numbers: [0, 7] },
  ]
  const reach: Reach = { ...job, passed: true, ms: 9_600, tests, numbers: [5] }
  const names = (number: number) => planFor(mutant, [number], [reach]).map(namesOf)
  assert.equal(names(0), [['quick'], ['slow']])
  assert.equal(names(5), [['elsewhere', 'quick'], ['slow']])
  assert.equal(names(6), [])
})

test.run()
