// engines: embedded; process: shared
/** Documents say the numbers of the records. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { told } from './numbers.ts'

const textOf = (path: string) => readFileSync(path, 'utf8').replace(/\s+/g, ' ')

/** Statuses, a standard, the first page, a price of a test, and a kind of archive. */
const noLimits = ['200', '201', '400', '401', '403', '404', '409', '429', '500', '8601', '1', '0', '7']

for (const [path, phrases] of Object.entries(told)) {
  test(`${path} says what the records say`, () => {
    const text = textOf(path)
    const missing = phrases.filter(phrase => !text.includes(phrase))
    assert.is(missing.length, 0, `${path} should say by the records: ${missing.join(' | ')}`)
  })
}

test('each number of the interface is held to a record', () => {
  const path = 'docs/interface.md'
  const rest = told[path]!.reduce((text, phrase) => text.replaceAll(phrase, ''), textOf(path))
  const numbers = rest.match(/(?<![\w-])\d[\d,.]*/g)!.map(found => found.replace(/[.,]+$/, ''))
  assert.equal(
    numbers.filter(found => !noLimits.includes(found)),
    [],
  )
})

test.run()
