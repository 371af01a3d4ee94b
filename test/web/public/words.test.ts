// engines: embedded; process: shared
/** How pages say amounts, spans and what people have written. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../../src/api/limits.ts'
import { localPath } from '../../../src/web/public/forms.ts'
import { siteName } from '../../../src/web/public/layout.ts'
import {
  ago,
  centsOf,
  counted,
  cut,
  inHoursOrDays,
  money,
  paragraphs,
  plain,
  said,
  sentence,
} from '../../../src/web/public/words.ts'

const test = suite('words')

test('amounts, counts and spans are said as people say them', () => {
  assert.equal([0, 5, 200, 123_456, 100_000_000].map(money), ['0.00', '0.05', '2.00', '1,234.56', '1,000,000.00'])
  assert.equal(
    [counted(0, 'task'), counted(1, 'task'), counted(1_200, 'task'), counted(2, 'reply', 'replies')],
    ['0 tasks', '1 task', '1,200 tasks', '2 replies'],
  )
  assert.equal([1, 24, 47, 48, 49, 72].map(inHoursOrDays), [
    '1 hour',
    '24 hours',
    '47 hours',
    '2 days',
    '49 hours',
    '3 days',
  ])
})

test('an amount is read as it is typed, or is none', () => {
  const amounts = {
    '12': 1_200,
    ' 12.5 ': 1_250,
    '12.05': 1_205,
    '0': 0,
    '19.99': 1_999,
    '999999999999': 99_999_999_999_900,
  }
  for (const [typed, cents] of Object.entries(amounts)) assert.is(centsOf(typed), cents, typed)
  for (const none of ['', '12,50', '12.505', '12.', '.5', '-1', '+1', '1e3', '1 000', '9'.repeat(13), '12 USD'])
    assert.is(centsOf(none), null, none)
})

test('how long ago something was is said in its largest span', () => {
  const now = Date.UTC(2026, 0, 1)
  const { hourMs, dayMs } = durations
  const spans: readonly (readonly [number, string])[] = [
    [-5_000, 'just now'],
    [59_999, 'just now'],
    [60_000, '1 minute ago'],
    [hourMs - 1, '59 minutes ago'],
    [hourMs, '1 hour ago'],
    [2 * dayMs - 1, '1 day ago'],
    [6 * dayMs, '6 days ago'],
    [7 * dayMs, '1 week ago'],
    [30 * dayMs, '1 month ago'],
    [364 * dayMs, '12 months ago'],
    [800 * dayMs, '2 years ago'],
  ]
  for (const [ms, words] of spans) {
    const moment = new Date(now - ms).toISOString()
    assert.is(ago(moment, now).text, `<time datetime="${moment}">${words}</time>`)
  }
})

test('a description is cut at its length, in whole characters and without a space at its end', () => {
  assert.is(cut('abcde', 5), 'abcde')
  assert.is(cut('abcdef', 5), 'abcd…')
  assert.is(cut('abc def', 5), 'abc…')
  assert.is(cut('\u{1f600}'.repeat(4), 5), '\u{1f600}'.repeat(4), 'four characters of two units each')
  assert.is(cut('\u{1f600}'.repeat(6), 5), `${'\u{1f600}'.repeat(4)}…`)
})

test('what somebody has written keeps its direction, and nothing hides in it', () => {
  assert.is(said('a <b> \u202ec').text, '<bdi dir="auto">a &lt;b&gt; <span class="sign">U+202E</span>c</bdi>')
  assert.is(
    said('\u0000\ufffb').text,
    '<bdi dir="auto"><span class="sign">U+0000</span><span class="sign">U+FFFB</span></bdi>',
  )
  assert.equal(
    paragraphs(' One\nline. \n\n\nAnother\u0007. ').map(({ text }) => text),
    ['<p dir="auto">One\nline.</p>', '<p dir="auto">Another<span class="sign">U+0007</span>.</p>'],
  )
  assert.is(plain(' a\n\tb \u202e\u0007 c '), 'a b c')
})

test('a form leads on to an address of this marketplace alone', () => {
  for (const here of ['/', '/agents?q=a#x', `/${'a'.repeat(999)}`]) assert.is(localPath(here), here)
  for (const none of [
    undefined,
    '',
    'agents',
    '//evil.example',
    '/\\evil.example',
    '/a b',
    '/\u00e9',
    '/\t',
    `/${'a'.repeat(1_000)}`,
  ])
    assert.is(localPath(none), null, none)
})

test('what people wrote before another sentence ends with a stop, and with one alone', () => {
  for (const [text, said] of Object.entries({ 'Of texts': 'Of texts.', 'Of texts.': 'Of texts.', 'Texts!': 'Texts!' }))
    assert.is(sentence(text), said)
})

test('a marketplace is called by its brand, else by its host, and a simulator by what it is', () => {
  const brand = { name: null, logo: null, colors: null }
  const called = (mode: 'dev' | 'serve', baseUrl: string, name: string | null = null) =>
    siteName({ mode, baseUrl, brand: { ...brand, name } })
  assert.is(called('serve', 'https://market.example:8443/x', 'Acme'), 'Acme')
  assert.is(called('serve', 'https://market.example:8443/x'), 'market.example:8443')
  assert.is(called('serve', ''), 'marketplace')
  assert.is(called('dev', 'http://localhost:3000'), 'marketplace')
})

test.run()
