// engines: embedded; process: shared
/** Kept histories are judged as they were: a change of a check that changes an old verdict is noticed. */
import { readdirSync, statSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { History, isOf, type Recorded } from '../../src/conform/history/history.ts'
import { historyLines, historyOf } from '../../src/conform/history/history-file.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { reportOf } from '../../src/conform/judging/report.ts'
import { sameNames } from '../support/same-names.ts'
import { historyPath, keptHistory, keptRuns, keptVerdicts, linesOf, verdictsOf } from './histories/kept.ts'
import { mutants } from './mutants/index.ts'

const CHANGED = `a check says something else of an old run. If it is meant so, the changelog says it, and \`npm run histories\` keeps it`

for (const { name } of keptRuns)
  test(`the verdicts are as they were: ${name}`, () => {
    const now = verdictsOf(keptHistory(name))
    const kept = keptVerdicts(name)
    // What was added since says nothing of what was not recorded for it.
    const inWords = (verdicts: typeof kept) => Object.keys(kept).map(id => `${id} ${verdicts[id]}`)
    sameNames(inWords(now), inWords(kept), CHANGED)
  })

/** They look at all callbacks or at the tasks of another check, or ask what came of a race. */
const OF_ALL = [
  ...['cb.unique', 'cb.no-storm', 'life.content', 'life.cancel-race', 'life.message-length'],
  'who.one-buyer-five-tasks',
]

test('a check passes of what was done for it, and not without that', () => {
  const history = keptHistory('right')
  const idle = checks.filter(check => {
    const isOwn = (event: Recorded) => 'label' in event && event.label !== null && isOf(event.label, check.id)
    const rest = history.events.filter(event => !isOwn(event))
    const isPlayed = rest.length < history.events.length
    return isPlayed && judge([check], new History(rest))[0]!.verdict === 'pass'
  })
  sameNames(
    idle.map(({ id }) => id),
    OF_ALL,
  )
})

test('the first cause that is printed is the bug', () => {
  const wrong = keptRuns.filter(({ flags }) => flags.includes('--bug'))
  const named = wrong.map(({ name }) => {
    const history = keptHistory(name)
    const played = history.of('scenario').map(({ scenario }) => scenario)
    const looked = checks.filter(({ scenario }) => played.includes(scenario))
    return [name, reportOf(looked, history, { known: [] }).causes[0]?.id]
  })
  const kills = wrong.map(({ name }) => [name, mutants.find(({ bug }) => bug === name)!.kills])
  assert.equal(named, kills)
})

test('what is kept has right runs and wrong ones, of many areas, and is small', () => {
  const files = readdirSync('test/conform/histories').filter(name => !name.endsWith('.ts'))
  sameNames(
    files,
    keptRuns.flatMap(({ name }) => [`${name}.jsonl.br`, `${name}.yaml`]),
  )
  const sizes = keptRuns.map(({ name }) => statSync(historyPath(name)).size)
  assert.ok(Math.max(...sizes) < 120_000, `${sizes}`)
  assert.ok(sizes.reduce((sum, size) => sum + size) < 200_000, `${sizes}`)
  const failed = keptRuns.map(({ name }) =>
    Object.entries(keptVerdicts(name)).flatMap(([id, verdict]) => (verdict === 'fail' ? [id] : [])),
  )
  assert.equal(failed[0], [])
  assert.ok(Object.values(keptVerdicts('right')).filter(verdict => verdict === 'pass').length > 150)
  const areas = failed.slice(1).map(ids => new Set(ids.map(id => id.split('.', 1)[0])))
  assert.equal(areas.flatMap(those => [...those]).sort(), ['cb', 'dup', 'life', 'order', 'sig'])
})

test('a history is written as it was read', () => {
  for (const { name } of keptRuns) assert.is(historyLines(keptHistory(name)), linesOf(name))
})

test('a history of another form is refused in a sentence, and so is what is none', () => {
  const [begin = '', second = ''] = linesOf('no-dedupe').split('\n')
  const later = begin
    .replace('conformance-history/1', 'conformance-history/2')
    .replace(/"version":"[^"]+"/, '"version":"9.1.0"')
  for (const [lines, said] of [
    [
      later,
      'it has the form conformance-history/2, and this version reads conformance-history/1; judge it with the version that has saved it, 9.1.0',
    ],
    [later.replace('conformance-history/2', '\\u001b[31m red'), 'it has the form  [31m red'.replace('[', ' ')],
    [second, 'it does not begin as a history of conformance does'],
    ['', 'it does not begin as a history of conformance does'],
    [`${begin}\n${second.slice(0, 40)}\n`, 'line 2 is no JSON'],
    [begin.slice(0, 40), 'line 1 is no JSON'],
    [`${begin}\nnull`, 'line 2 is no event'],
  ] as const)
    assert.throws(
      () => historyOf(lines),
      (error: Error) => error.message.includes(said) || assert.unreachable(error.message),
    )
})

test.run()
