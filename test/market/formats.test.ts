// engines: embedded; process: shared
/** What is printed: times, and lines of the log cut short. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type LogEntry, withShortValues } from '../../src/market/log.ts'
import { iso, isoOrNull } from '../../src/market/time.ts'

test('a time is printed as JavaScript prints it, however many were printed before', () => {
  const moments = [
    0, 1, 999, 1_000, 59_999, 1_767_225_600_000, 1_767_225_600_001, 1_767_225_600_099, -1, 86_399_999, 86_400_000,
  ]
  moments.push(253_402_300_799_999, 253_402_300_800_000, -62_198_755_200_001, 8.64e15, -8.64e15) // years of six digits too
  for (let n = 0; n < 600; n++) moments.push(1_767_225_600_000 + n * 1_000 + n)
  for (const ms of [...moments, ...moments]) assert.is(iso(ms), new Date(ms).toISOString())
  assert.throws(() => iso(Number.NaN), RangeError)
  assert.is(iso(1_500.9), '1970-01-01T00:00:01.500Z', 'parts of a millisecond are left out')
  assert.equal([isoOrNull(null), isoOrNull(0)], [null, '1970-01-01T00:00:00.000Z'])
})

const short = (line: LogEntry) => {
  let heard: LogEntry | undefined
  withShortValues(one => {
    heard = one
  })(line)
  return heard as LogEntry & Record<string, unknown>
}

test('a value of the log has 500 characters, a stack 4,000; a letter and what is no text stay whole', () => {
  const message = 'm'.repeat(500)
  const stack = 's'.repeat(4_000)
  assert.equal(short({ type: 'error', message, stack }), { type: 'error', message, stack })
  const cut = short({ type: 'error', message: `${message}!`, stack: `${stack}!` })
  assert.equal(cut, { type: 'error', message: `${message}…`, stack: `${stack}…` })
  const letter = { to: 'a@x.test', subject: 'x', text: 't'.repeat(9_000) }
  const mail = { type: 'mail', mailId: 'mail_1', kind: 'k', outcome: 'shown', reason: null, letter } as const
  assert.equal(short(mail), mail)
  assert.is(short({ type: 'info', message: `${'a'.repeat(499)}😀b` }).message, `${'a'.repeat(499)}\uFFFD…`)
})

test('a line that is cut is another one: whoever wrote it keeps theirs', () => {
  const line: LogEntry = { type: 'info', message: 'x'.repeat(600) }
  short(line)
  assert.is(line.message.length, 600)
})

test.run()
