// engines: embedded; process: shared
/** The pages of docs/decisions: their form, their figures, and the code that they name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const DECISIONS = 'docs/decisions'

const read = (path: string) => readFileSync(path, 'utf8')
const pages = readdirSync(DECISIONS).filter(name => name !== 'README.md')
const numberOf = (page: string) => `A-${Number(page.slice(0, 4))}`

test('each decision has a number, a title and a line in the index', () => {
  assert.is(new Set(pages.map(numberOf)).size, pages.length)
  const index = read(`${DECISIONS}/README.md`)
  for (const page of pages) {
    const [title] = read(posix.join(DECISIONS, page)).split('\n', 1) as [string]
    assert.ok(title.startsWith(`# ${numberOf(page)} · `), `${page}: ${title}`)
    assert.ok(index.includes(`- [${numberOf(page)}](${page}) ${title.slice(title.indexOf(' · ') + 3)}\n`), page)
  }
})

/** What something took, unless it is what it may take. */
const MEASUREMENT =
  /(?<!\b(?:may|must|can|would) )\b(?:took|takes?|needed|wrote|costs?|loads in)\b[^.;:]{0,40}?\d[\d,.]*\s(?:ms|µs|s|[kKMG]i?B|%)(?!\w)/

/** An amount of time or room. */
const AMOUNT = /(?<![\w-])\d[\d,.]*\s(?:ms|µs|s|seconds?|minutes?|[kKM]i?B|GB|GiB|MiB)(?!\w)/

const PARTS = ['Date', 'Context', 'Choice', 'Price', 'Measured']

/** What is wrong with the form of a decision. */
function faultsOf(text: string): string[] {
  const parts = [...text.matchAll(/^(?:\*\*(\w+)\.\*\*|(Date): \d{4}-\d\d-\d\d$)/gm)].map(
    ([, part, date]) => (part ?? date)!,
  )
  const wanted = PARTS.filter(part => part !== 'Measured' || parts.includes(part) || MEASUREMENT.test(text))
  return parts.join() === wanted.join() ? [] : [`has ${parts.join(', ')} and not ${wanted.join(', ')}`]
}

test('each decision has its date, context, choice and price, and says under Measured what something took', () => {
  const faults = pages.flatMap(page => faultsOf(read(posix.join(DECISIONS, page))).map(fault => `${page} ${fault}`))
  assert.equal(faults, [])
  const page = (choice: string) =>
    `# A-1 · Title\n\nDate: 2026-11-21\n\n**Context.** a\n\n**Choice.** ${choice}\n\n**Price.** c\n`
  assert.equal(faultsOf(page('A start may take 9 ms, and waits for 5 s.')), [])
  assert.is(faultsOf(page('A start takes some 9 ms.')).length, 1)
  assert.equal(faultsOf(`${page('A start takes some 9 ms.')}\n**Measured.** 9 ms.\n`), [])
  assert.is(faultsOf(page('b').replace('Date: ', '')).length, 1)
  assert.is(faultsOf(page('b').replace('**Price.** c', '')).length, 1)
})

/** An amount that is said in passing: neither measured, nor is a file named that has it. */
const unfounded = (text: string) => AMOUNT.test(text) && !/\*\*Measured\.\*\*|`(?:src|test)\//.test(text)

test('amounts of time and room are measured, or the page names the file that has them', () => {
  const own = pages.filter(page => Number(page.slice(0, 4)) > 100)
  const without = own.filter(page => unfounded(read(posix.join(DECISIONS, page))))
  assert.equal(without, [])
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

test('each file that a decision names is there, and has the name that is said to be in it', () => {
  const wrong = pages.flatMap(page => misplaced(read(posix.join(DECISIONS, page))).map(one => `${page}: ${one}`))
  assert.equal(wrong, [])
  const text =
    '`limits.price` in\n`src/api/limits.ts`, `perHos` (`src/api/limits.ts`), `src/api/limit.ts`, `a` in `src/gone.ts`'
  assert.equal(misplaced(text), ['perHos in src/api/limits.ts', 'a in src/gone.ts', 'src/api/limit.ts', 'src/gone.ts'])
  const named = pages.flatMap(page => [...read(posix.join(DECISIONS, page)).matchAll(NAMED)])
  assert.ok(named.length > 30, `${named.length}`)
})

test.run()
