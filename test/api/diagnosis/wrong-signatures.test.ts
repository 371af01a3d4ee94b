// engines: embedded; process: shared
/** The ways in which a webhook is signed wrongly on purpose: a diagnosis finds in each the very mistake that it was made with. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { diagnose } from '../../../src/api/diagnosis/diagnose.ts'
import type { Candidate } from '../../../src/api/diagnosis/secrets.ts'
import { wrongSignatures } from '../../../src/api/diagnosis/wrong-signatures.ts'

const NOW = Date.UTC(2026, 0, 1)
const candidates: readonly Candidate[] = [
  { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+SqW2jvFcjA=', kind: 'current' },
  { secret: 'whsec_cHJldmlvdXMgc2VjcmV0IG9mIHRoaXMgYWdlbnQhISE=', kind: 'previous', agent: 'mine' },
  { secret: 'whsec_b3RoZXIgYWdlbnQncyBzZWNyZXQgb2YgMzIgYnl0ZXM=', kind: 'other', agent: 'theirs' },
]
const body = Buffer.from(
  '{"event":"task.cancelled","timestamp":"2026-01-01T00:00:00.000Z","data":{"title":"a & ü 1/2"}}',
)
const all = [...wrongSignatures(body, candidates, NOW)]

test('each wrong signature is diagnosed as the mistake that made it', () => {
  assert.ok(all.length > 100, `${all.length}`)
  for (const { headers, mistake } of all) {
    assert.equal(diagnose({ headers: Object.entries(headers), body }, candidates, NOW), mistake)
  }
})

test('the likely mistakes are among the first; none is right, none comes twice, and none tells a secret', () => {
  const causes = all.map(({ mistake }) => mistake.cause)
  const typical = [
    'base64_digest',
    'seconds',
    'previous_secret',
    'no_prefix',
    'secret_whitespace',
    'body_alone',
    'no_dot',
  ]
  for (const cause of typical) assert.ok(causes.indexOf(cause as never) < 60, cause)
  for (const cause of ['parsed_body', 'stringified_body', 'other_agents_secret', 'other_hash']) {
    assert.ok(causes.includes(cause as never), cause)
  }
  assert.is(new Set(all.map(({ headers }) => JSON.stringify(headers))).size, all.length)
  for (const { mistake } of all) assert.not.match(`${mistake.text} ${mistake.fix}`, /whsec_\w/)
  assert.equal([...wrongSignatures(body, [], NOW)], [])
})

test.run()
