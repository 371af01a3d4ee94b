// engines: embedded; process: own
/** What code and pages cite: rules of the interface (I-escrow) and decisions. Each leads somewhere. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { linked } from './markdown.ts'

const REFERENCE = /(?<![\w-])(?:I-[a-z]+(?:-[a-z]+)*|A-[1-9]\d*)(?![\w-])/g

const DECISIONS = 'docs/decisions'

/** Rules stand in bold where they are said; a part of the page has its name in the heading. */
const rulesOf = (page: string): string[] =>
  [...page.matchAll(/\*\*(I-[a-z-]+)\*\*|^#+ .*\((I-[a-z-]+)\)$/gm)].map(([, rule, part]) => (rule ?? part)!)

const read = (path: string) => readFileSync(path, 'utf8')

const pages = readdirSync(DECISIONS).filter(name => name !== 'README.md')
const rules = rulesOf(read('docs/interface.md'))
const known = new Set([...rules, ...pages.map(numberOf)])

function numberOf(page: string): string {
  return `A-${Number(page.slice(0, 4))}`
}

const deadIn = (text: string) => [...new Set(text.match(REFERENCE) ?? [])].filter(reference => !known.has(reference))

/** All that people read or that is printed for them, this file apart: it makes references up. */
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter(path => /\.(?:ts|js|mjs|md|json|ya?ml)$/.test(path) && existsSync(path))
  .filter(path => path !== 'package-lock.json' && path !== 'test/docs/references.test.ts')

test('each reference in code, docs and openapi.json leads to a rule or a decision', () => {
  assert.ok(files.includes('docs/openapi.json') && files.includes('src/api/limits.ts'))
  const dead = files.flatMap(path => deadIn(read(path)).map(reference => `${path}: ${reference}`))
  assert.equal(dead, [])
  const cited = files.filter(path => path.startsWith('src/')).flatMap(path => read(path).match(REFERENCE) ?? [])
  assert.ok(cited.length > 300, `${cited.length}`)
})

test('a reference that leads nowhere is found, and what only looks like one is none', () => {
  assert.equal(deadIn('Source: I-escrow, A-33 and A-100; A-9999'), ['A-100', 'A-9999'])
  assert.equal(deadIn('I-escrows'), ['I-escrows'])
  assert.equal(deadIn('UTF-8, AAA-1, I-O'), [])
})

test('the old ways to cite are gone: D33, section 4, decision 90', () => {
  const old = /\bD\d{1,2}\b|\b[Ss]ections? [1-8]\b|\b[Dd]ecisions? \d+\b/
  const citing = files.filter(path => /^(?:src|fixtures|docs)\//.test(path) && old.test(read(path)))
  assert.equal(citing, [])
})

test('each rule is an anchor of the interface by its name, and each source in the reference a link', () => {
  const page = read('docs/interface.md')
  const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>(?:\*\*(I-[a-z-]+)\*\*|\n\n#+ .*\((I-[a-z-]+)\)\n)/g)]
  assert.equal(
    anchors.map(([, id]) => id),
    rules.map(rule => rule.toLowerCase()),
  )
  for (const [, id, rule, part] of anchors) assert.is(id, (rule ?? part)!.toLowerCase())
  assert.is(
    linked('I-escrow, A-33 and A-101'),
    '[I-escrow](../interface.md#i-escrow), [A-33](../decisions/0033-ledger.md) and [A-101](../decisions/0101-sql-js-with-a-journal.md)',
  )
  const reference = readdirSync('docs/reference').filter(name => name.endsWith('.md'))
  const sources = reference.flatMap(name => read(`docs/reference/${name}`).match(/Source: .*\.$/gm) ?? [])
  assert.ok(sources.length > 80, `${sources.length}`)
  const unlinked = sources.filter(source => source.replace(/\[[^\]]*\]\([^)]*\)/g, '').match(REFERENCE))
  assert.equal(unlinked, [])
})

test('each rule has one place, and each decision a number, a title and a line in the index', () => {
  assert.equal(
    rules.filter((rule, at) => rules.indexOf(rule) !== at),
    [],
  )
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
    '`dispatch.perHost` in\n`src/api/limits.ts`, `perHos` (`src/api/limits.ts`), `src/api/limit.ts`, `a` in `src/gone.ts`'
  assert.equal(misplaced(text), ['perHos in src/api/limits.ts', 'a in src/gone.ts', 'src/api/limit.ts', 'src/gone.ts'])
  const named = pages.flatMap(page => [...read(posix.join(DECISIONS, page)).matchAll(NAMED)])
  assert.ok(named.length > 30, `${named.length}`)
})

/** Folders of src by their paths, and its files that lie in no room. */
const rooms = readdirSync('src', { withFileTypes: true }).flatMap(entry =>
  entry.isDirectory()
    ? [
        entry.name,
        ...readdirSync(`src/${entry.name}`, { withFileTypes: true }).flatMap(one =>
          one.isDirectory() ? [one.name] : [],
        ),
      ]
    : [entry.name],
)

test('the tree of the architecture has each room, shelf and file outside of a room', () => {
  const [, tree] = read('docs/architecture.md').split('bin/marketplace.js   loads')
  const missing = (text: string) =>
    rooms.filter(name => !new RegExp(`(?<![\\w.-])${name}(?:/|(?<=\\.ts))(?!\\w)`).test(text))
  assert.equal(missing(tree!.split('examples/')[0]!), [])
  assert.ok(rooms.includes('doctor') && rooms.includes('open.ts'))
  assert.equal(missing(tree!.replace('doctor/', '').replaceAll('open.ts', '')), ['doctor', 'open.ts'])
})

test.run()
