// engines: embedded; process: shared
/** What is made of an agent's texts: words, beginnings of words, slugs. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/api/limits.ts'
import { numberedSlug, prefixes, slugBase, terms, words } from '../../../src/market/agents/search-words.ts'

test('words are letters, digits, marks and underscores; each once, in their order, without case and accents', () => {
  assert.equal(words('Émile’s snake_case, 2nd  draft', 'ÉMILE DRAFT'), ['emile', 's', 'snake_case', '2nd', 'draft'])
  assert.equal(words('ﬁne', 'ﬀ'), ['fine', 'ff'], 'ligatures are letters')
  assert.equal(words('one', 'two'), ['one', 'two'], 'no word reaches over two texts')
  assert.equal(words('— … !'), [])
  assert.equal(words('İstanbul'), ['istanbul'])
  assert.equal(words('नीला'), ['नीला'], 'vowel signs are no accents')
})

test('a word has 64 characters at most, whatever each of them takes', () => {
  assert.equal(words('a'.repeat(64)), ['a'.repeat(64)])
  assert.equal(words('a'.repeat(65)), ['a'.repeat(64)])
  assert.equal(words('𝒳'.repeat(70)), ['x'.repeat(64)])
  assert.equal(words('𐐨'.repeat(70)), ['𐐨'.repeat(64)])
})

test('an agent is found by 500 of its words and by their first letters', () => {
  assert.equal(terms('ab', 'cde').sort(), ['a', 'ab', 'c', 'cd', 'cde'].sort())
  assert.equal(terms('a', '').sort(), ['a'])
  const many = Array.from({ length: 600 }, (_, n) => `w${n + 1000}`)
  const found = terms('', many.join(' '))
  assert.ok(found.includes('w1499') && !found.includes('w1500'))
  assert.is(limits.search.wordsPerAgent, 500)
})

test('of a search, a word that another begins with asks for nothing more', () => {
  assert.equal(prefixes('mar market ma other'), ['market', 'other'])
  assert.equal(prefixes('market market'), ['market'])
  assert.equal(prefixes('arket market'), ['arket', 'market'])
})

test('a slug is a–z, 0–9 and single hyphens, 60 characters at most, and none at an end', () => {
  assert.is(slugBase('Résumé  Writer!'), 'resume-writer')
  assert.is(slugBase('--A & B--'), 'a-b')
  assert.is(slugBase('日本語'), '')
  assert.is(slugBase('x'.repeat(61)), 'x'.repeat(60))
  assert.is(slugBase('2 Cool'), '2-cool')
})

test('the second of a name ends with its number, within the same length', () => {
  assert.is(numberedSlug('writer', 1), 'writer')
  assert.is(numberedSlug('writer', 2), 'writer-2')
  assert.is(numberedSlug('x'.repeat(60), 1), 'x'.repeat(60))
  assert.is(numberedSlug('x'.repeat(60), 2), `${'x'.repeat(58)}-2`)
  assert.is(numberedSlug('x'.repeat(60), 10), `${'x'.repeat(57)}-10`)
  assert.is(numberedSlug(`${'x'.repeat(57)}-yy`, 2), `${'x'.repeat(57)}-2`, 'no two hyphens where it is cut')
})

test.run()
