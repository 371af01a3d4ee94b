// engines: embedded; process: own
/** What code and pages cite: rules of the interface (I-escrow) and decisions. Each leads somewhere. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sameNames } from '../support/same-names.ts'
import { choiceOf } from './decisions.ts'
import { linked } from './markdown.ts'

const REFERENCE = /(?<![\w-])(?:I-[a-z]+(?:-[a-z]+)*|A-[1-9]\d*)(?![\w-])/g

/** Rules stand in bold where they are said; a part of the page has its name in the heading. */
const rulesOf = (page: string): string[] =>
  [...page.matchAll(/\*\*(I-[a-z-]+)\*\*|^#+ .*\((I-[a-z-]+)\)$/gm)].map(([, rule, part]) => (rule ?? part)!)

const read = (path: string) => readFileSync(path, 'utf8')

const rules = rulesOf(read('docs/interface.md'))
const known = new Set([...rules, ...choiceOf.keys()])

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

test('each rule is an anchor of the interface by its name, and each rule in the reference a link', () => {
  const page = read('docs/interface.md')
  const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>(?:\*\*(I-[a-z-]+)\*\*|\n\n#+ .*\((I-[a-z-]+)\)\n)/g)]
  sameNames(
    anchors.map(([, id]) => id!),
    rules.map(rule => rule.toLowerCase()),
  )
  for (const [, id, rule, part] of anchors) assert.is(id, (rule ?? part)!.toLowerCase())
  assert.is(linked('I-escrow, A-33'), '[I-escrow](../interface.md#i-escrow), A-33')
  const reference = readdirSync('docs/reference').filter(name => name.endsWith('.md'))
  const sources = reference.flatMap(name => read(`docs/reference/${name}`).match(/Source: .*\.$/gm) ?? [])
  assert.ok(sources.length > 80, `${sources.length}`)
  const unlinked = sources.filter(source => /I-/.test(source.replace(/\[[^\]]*\]\([^)]*\)/g, '')))
  assert.equal(unlinked, [])
})

test('each rule has one place', () => {
  assert.equal(
    rules.filter((rule, at) => rules.indexOf(rule) !== at),
    [],
  )
})

test.run()
