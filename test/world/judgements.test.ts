// engines: embedded; process: shared
/** Which URLs were judged is kept within a bound in bytes, as a URL may be long. Source: A-49. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { keptJudgements } from '../../src/world/egress/egress.ts'

test('short URLs are judged once; of long ones no more are kept than there is room for', () => {
  const judged: string[] = []
  const destination = keptJudgements(text => {
    judged.push(text)
    return new URL(text)
  }, 10_000)
  const short = ['https://one.example/', 'https://two.example/']
  for (const text of [...short, ...short]) assert.is((destination(text) as URL).href, text)
  assert.equal(judged, short)
  // 4 KB as a key and as a URL each.
  const long = short.map(text => text + 'a'.repeat(2_000))
  for (const text of [...long, ...long]) destination(text)
  assert.is(judged.length, 6, 'two of them do not fit')
})

test.run()
