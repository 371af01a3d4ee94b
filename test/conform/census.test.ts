// engines: embedded; process: shared
/** The records of the checks: their names, and the sentences that they hold agents to. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { must, should } from '../../src/conform/checks/owed.ts'
import { levelsIn, requirements } from '../../src/conform/requirements/index.ts'
import { scenarios } from '../../src/conform/scenarios/index.ts'
import { conformancePage } from '../docs/conformance-page.ts'
import { choiceOf } from '../docs/decisions.ts'
import { ofOwed, ofRules } from './behaviours.ts'

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
const law = readFileSync('docs/interface.md', 'utf8')

/** The words of a rule or a decision; undefined if there is none. */
function wordsOf(source: string): string | undefined {
  const choice = choiceOf.get(source)
  if (choice) return oneLine(choice.text)
  const [, rest] = law.split(`<a id="${source.toLowerCase()}"></a>**${source}**`)
  return rest && oneLine(rest.split('<a id="')[0]!)
}

test('each check quotes its rule word for word', () => {
  for (const { id, law } of checks) {
    const words = wordsOf(law.source)
    assert.ok(words, `${id}: there is no ${law.source}`)
    assert.ok(words.includes(law.quote), `${id}: ${law.source} does not say “${law.quote}”`)
    assert.ok(law.quote.split(' ').length >= 2, `${id}: a quote is a sentence, or most of one`)
  }
})

test('what agents owe beside the interface stands in their guide, word for word', () => {
  const guide = oneLine(
    readFileSync('docs/guides/agents.md', 'utf8').split('## What an agent owes')[1]!.split('\n## ')[0]!,
  )
  const owed = checks.filter(({ level, law }) => level === 'must' && law.source === 'A-46')
  assert.ok(owed.length > 0)
  for (const { id, law } of owed) assert.ok(guide.includes(law.quote), `${id}: the guide does not say “${law.quote}”`)
})

test('a check that says must quotes what binds agents: the interface, or what they owe beside it', () => {
  const others = checks.filter(({ level, law }) => level === 'must' && !/^(?:I-|A-46$)/.test(law.source))
  assert.equal(
    others.map(({ id, law }) => `${id} ${law.source}`),
    [],
  )
})

test('each rule about agents has a row of what agents may do with it, which names checks or says why there is none', () => {
  const rows = { ...ofOwed, ...ofRules }
  const named = new Set<string>()
  for (const [rule, row] of Object.entries(rows))
    for (const [behaviour, cell] of Object.entries(row)) {
      if (/^why not: \S/.test(cell)) continue
      for (const id of cell.split(' ')) {
        assert.ok(
          checks.some(check => check.id === id),
          `${rule}, ${behaviour}: there is no ${id}`,
        )
        named.add(id)
      }
    }
  const owed = new Map([...Object.entries(must), ...Object.entries(should)].map(([name, { quote }]) => [quote, name]))
  for (const { id, level, law } of checks) {
    const rule = law.source === 'A-46' ? owed.get(law.quote) : law.source
    assert.ok(level === 'may' || (rule !== undefined && rule in rows), `${id}: there is no row for ${law.source}`)
  }
  const missing = checks.filter(({ id, level }) => level !== 'may' && !named.has(id)).map(({ id }) => id)
  assert.equal(missing, [], 'checks that no cell names')
})

test('the page of the checks is what their records say', () => {
  const page = readFileSync('docs/reference/conformance.md', 'utf8')
  assert.ok(page === conformancePage(), 'npm run docs')
})

test('ids are unique, and name an area and what is checked', () => {
  const ids = checks.map(({ id }) => id)
  assert.is(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*$/)
})

test('a check depends on checks that come before it, and looks into a scenario that there is', () => {
  const names = scenarios.map(({ name }) => name)
  assert.is(new Set(names).size, names.length)
  const depends = new Map(checks.map(({ id, after = [] }) => [id, after]))
  for (const { id, after = [], scenario } of checks) {
    assert.ok(names.includes(scenario), `${id}: there is no scenario ${scenario}`)
    for (const before of after) assert.ok(depends.has(before), `${id}: there is no check ${before}`)
    const seen = new Set<string>()
    for (const queue = [...after]; queue.length > 0; ) {
      const next = queue.pop()!
      assert.is.not(next, id, `${id} depends on itself`)
      if (!seen.has(next)) queue.push(...depends.get(next)!)
      seen.add(next)
    }
  }
  const used = new Set(checks.map(({ scenario }) => scenario))
  for (const { name, when } of scenarios) assert.ok(used.has(name) || when === 'first', `no check looks into ${name}`)
})

test('a title says what a right agent does; why and cure are whole sentences', () => {
  for (const { id, title, why, fix } of checks) {
    assert.match(title, /^[a-z].*[^.]$/, id)
    assert.ok(title.length <= 100, `${id}: ${title}`)
    assert.match(why, /^[A-Z0-9`].*[.?!]$/s, id)
    assert.match(fix, /^[A-Z0-9`].*[.?!]$/s, id)
  }
})

/** A set never changes once it is published: what is new, or has another level, goes into the next one. */
const frozen: Readonly<Record<string, string>> = { '2026-11': '7768cc8dbf9b842f', '2026-12': 'b719191921ae85df' }

const sets = Object.entries(requirements).map(([name, set]) => ({ name, levels: levelsIn(set) }))

test('sets of requirements name checks that there are, and stay as they were published, with their levels', () => {
  const ids = checks.map(({ id }) => id)
  for (const { name, levels } of sets) {
    const hash = createHash('sha256').update(JSON.stringify(Object.entries(levels)))
    assert.is(hash.digest('hex').slice(0, 16), frozen[name], name)
    assert.match(name, /^\d{4}-\d{2}$/)
    for (const id of Object.keys(levels)) assert.ok(ids.includes(id), `${name}: ${id}`)
  }
})

test('a check has the level of the newest set: another takes a new set', () => {
  const { name, levels } = sets.at(-1)!
  for (const { id, level } of checks) assert.is(levels[id] ?? level, level, `${id} in ${name}`)
})

test('the changelog names each set, how many checks it has, and each that is new in it or has another level', () => {
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  for (const [at, { name, levels }] of sets.entries()) {
    const ids = Object.keys(levels)
    const told = changelog.split(`**Requirements ${name}**`)[1]!.split('**Requirements')[0]!
    assert.match(told, new RegExp(`^[^\n]*: ${ids.length} checks`), name)
    const before = sets[at - 1]?.levels ?? levels
    const others = ids.filter(id => levels[id] !== before[id])
    assert.equal(
      others.filter(id => !told.includes(`\`${id}\``)),
      [],
      `not told of ${name}`,
    )
  }
})

test.run()
