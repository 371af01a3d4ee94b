// engines: embedded; process: shared
/** The pages of docs/decisions: their form, their figures, and the code that they name. */
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { choices, choicesIn, INDEX, topicPages } from './decisions.ts'

const read = (path: string) => readFileSync(path, 'utf8')
const titleOf = (choice: (typeof choices)[number]) => `${choice.page} ${choice.names.join(', ')}`
const newest = (choice: (typeof choices)[number]) => Math.max(...choice.names.map(name => Number(name.slice(2))))

test('each choice has one place, and its anchor is its name', () => {
  const names = choices.flatMap(choice => choice.names)
  assert.equal(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  assert.ok(names.length > 200, `${names.length}`)
  const section = (anchor: string, heading: string) => `# Page\n\n${anchor}\n\n${heading}\n\nDate: 2026-11-21\n`
  const whole = section('<a id="a-1"></a><a id="a-20"></a>', '## A-1, A-20 · Title')
  assert.equal(
    choicesIn('a.md', whole).map(choice => choice.names),
    [['A-1', 'A-20']],
  )
  for (const wrong of [
    section('<a id="a-1"></a>', '## A-2 · Title'),
    section('<a id="a-1"></a>', '## A-1, A-2 · Title'),
    section('<a id="a-1"></a>', '## A-1'),
    `${whole}\n## A-3 · Without an anchor\n`,
  ])
    assert.throws(() => choicesIn('a.md', wrong), /a\.md: an anchor/)
})

test('a page begins with how it is now, and tells its choices newest first', () => {
  for (const { name, text } of topicPages) {
    const [state] = text.split(/^<a id="/m) as [string]
    assert.match(state, /^# \S.*\n\n- /, name)
    assert.ok(state.split('\n').length < 20, `${name}: what holds now takes more than a screen`)
    const numbers = choices.filter(({ page }) => page === name).map(newest)
    assert.equal(
      numbers,
      numbers.toSorted((a, b) => b - a),
      name,
    )
  }
})

test('the index has a line for each page, with its choices', () => {
  const index = read(INDEX)
  for (const { name, text } of topicPages) {
    const names = choices.filter(({ page }) => page === name).flatMap(choice => choice.names)
    const sorted = names.toSorted((a, b) => Number(a.slice(2)) - Number(b.slice(2)))
    const title = /^# (.*)$/m.exec(text)![1]!
    const line = `- [${title}](${name}): ${sorted.join(', ')}`
    assert.ok(index.includes(`${line}\n`), `wanted in ${INDEX}: ${line}`)
  }
})

/** What something took, unless it is what it may take. */
const MEASUREMENT =
  /(?<!\b(?:may|must|can|would) )\b(?:took|takes?|needed|wrote|costs?|loads in)\b[^.;:]{0,40}?\d[\d,.]*\s(?:ms|µs|s|[kKMG]i?B|%)(?!\w)/

/** An amount of time or room. */
const AMOUNT = /(?<![\w-])\d[\d,.]*\s(?:ms|µs|s|seconds?|minutes?|[kKM]i?B|GB|GiB|MiB)(?!\w)/

const PARTS = ['Date', 'Context', 'Choice', 'Price', 'Measured']

/** What is wrong with the form of a choice. */
function faultsOf(text: string): string[] {
  const parts = [...text.matchAll(/^(?:\*\*(\w+)\.\*\*|(Date): \d{4}-\d\d-\d\d(?:, \d{4}-\d\d-\d\d)*$)/gm)].map(
    ([, part, date]) => (part ?? date)!,
  )
  const wanted = PARTS.filter(part => part !== 'Measured' || parts.includes(part) || MEASUREMENT.test(text))
  return parts.join() === wanted.join() ? [] : [`has ${parts.join(', ')} and not ${wanted.join(', ')}`]
}

test('each choice has its date, context, choice and price, and says under Measured what something took', () => {
  const faults = choices.flatMap(choice => faultsOf(choice.text).map(fault => `${titleOf(choice)} ${fault}`))
  assert.equal(faults, [])
  const section = (choice: string) =>
    `## A-1 · Title\n\nDate: 2026-11-21\n\n**Context.** a\n\n**Choice.** ${choice}\n\n**Price.** c\n`
  assert.equal(faultsOf(section('A start may take 9 ms, and waits for 5 s.')), [])
  assert.is(faultsOf(section('A start takes some 9 ms.')).length, 1)
  assert.equal(faultsOf(`${section('A start takes some 9 ms.')}\n**Measured.** 9 ms.\n`), [])
  assert.is(faultsOf(section('b').replace('Date: ', '')).length, 1)
  assert.is(faultsOf(section('b').replace('**Price.** c', '')).length, 1)
})

/** An amount that is said in passing: neither measured, nor is a file named that has it. */
const unfounded = (text: string) => AMOUNT.test(text) && !/\*\*Measured\.\*\*|`(?:src|test)\//.test(text)

test('amounts of time and room are measured, or the choice names the file that has them', () => {
  const own = choices.filter(choice => newest(choice) > 100)
  assert.equal(own.filter(({ text }) => unfounded(text)).map(titleOf), [])
  assert.ok(
    unfounded('It waits for 5 s.') && !unfounded('It waits for 5 s (`src/a.ts`).') && !unfounded('Five at most.'),
  )
})

/** `name` in `src/file.ts`, or `name` (`src/file.ts`). */
const NAMED = /`([\w$.]+)`(?:\s+in\s+|\s+\(|\s+of\s+)`((?:src|test)\/[\w/.-]+\.ts)`/g

/** Names that a page looks for in a file where they are not, and files that are not there. */
const misplaced = (text: string) => [
  ...[...text.matchAll(NAMED)]
    .filter(([, name, path]) => !existsSync(path!) || !name!.split('.').every(part => wordIn(part, read(path!))))
    .map(([, name, path]) => `${name} in ${path}`),
  ...[...text.matchAll(/`((?:src|test|fixtures)\/[\w/.-]+\.\w+)`/g)]
    .map(([, path]) => path!)
    .filter(path => !existsSync(path)),
]

const wordIn = (word: string, text: string) =>
  new RegExp(`(?<![\\w$])${word.replaceAll('$', '\\$')}(?![\\w$])`).test(text)

test('each file that a page names is there, and has the name that is said to be in it', () => {
  const wrong = topicPages.flatMap(({ name, text }) => misplaced(text).map(one => `${name}: ${one}`))
  assert.equal(wrong, [])
  const text =
    '`limits.price` in\n`src/api/limits.ts`, `perHos` (`src/api/limits.ts`), `src/api/limit.ts`, `a` in `src/gone.ts`'
  assert.equal(misplaced(text), ['perHos in src/api/limits.ts', 'a in src/gone.ts', 'src/api/limit.ts', 'src/gone.ts'])
  const named = topicPages.flatMap(page => [...page.text.matchAll(NAMED)])
  assert.ok(named.length > 30, `${named.length}`)
})

test.run()
