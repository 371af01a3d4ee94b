// engines: embedded; process: shared
/** What helps where no signature is wrong: after an unwelcome response of an agent, and after a refused request of one. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { refusalHint } from '../../../src/api/diagnosis/refusals.ts'
import { answerFinding, NOWHERE } from '../../../src/api/diagnosis/responses.ts'
import { invalid, refuse } from '../../../src/api/failures.ts'

const findingOn = (status: number, body = '', location?: string) =>
  answerFinding({ status, reason: null, message: '', location, body })

test('a response to a webhook: its cause, how sure that is, and what the agent said', () => {
  const rows: [number, string, string][] = [
    [301, 'redirect', 'sure'],
    [308, 'redirect', 'sure'],
    [400, 'not_understood', 'likely'],
    [401, 'refused_by_agent', 'likely'],
    [403, 'refused_by_agent', 'likely'],
    [404, 'wrong_path', 'likely'],
    [405, 'wrong_method', 'likely'],
    [410, 'gone', 'sure'],
    [413, 'too_large', 'likely'],
    [418, 'odd_status', 'sure'],
    [429, 'too_busy', 'sure'],
    [500, 'agent_failed', 'sure'],
    [502, 'agent_away', 'likely'],
    [504, 'too_slow', 'likely'],
    [202, 'not_200', 'sure'],
  ]
  for (const [status, cause, certainty] of rows) {
    const found = findingOn(status)
    assert.equal([found.cause, found.certainty], [cause, certainty], String(status))
    assert.match(found.text, String(status))
  }
  assert.match(findingOn(308, 'moved', '/webhook/').text, 'It leads to /webhook/ .')
  assert.match(findingOn(404, '{"error":"no route"}').text, 'It said “no route”.')
  assert.match(findingOn(500, '{"error":{"message":"out of ideas"}}').text, 'It said “out of ideas”.')
  const page = '<html><style>p { color: red }</style><pre>TypeError: no\n  such thing</pre></html>'
  assert.match(findingOn(500, page).text, 'It said “TypeError: no such thing”.')
  assert.ok(findingOn(500, 'x'.repeat(9_999)).text.length < 300)
})

test('every reason for which there is no answer has a cause, and what is down on purpose is known by its address', () => {
  const text = readFileSync('src/world/world.ts', 'utf8')
  const [, union = ''] = /OutgoingFailure =([^/]*(?:\/\*\*[^*]*\*\/[^/]*)?)/.exec(text) ?? []
  const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason!)
  assert.ok(reasons.length >= 11)
  for (const reason of reasons) {
    const { cause, certainty } = answerFinding({ status: null, reason, message: 'why' })
    assert.ok(reason === 'own_fault' || cause !== 'own_fault', reason)
    assert.is(certainty === 'sure', !['timeout', 'reset', 'bad_answer'].includes(reason), reason)
  }
  const down = answerFinding({ url: NOWHERE, status: null, reason: 'refused', message: 'Nothing listens' })
  assert.is(down.cause, 'down_on_purpose')
  assert.is(answerFinding({ url: NOWHERE, status: 500, reason: null, message: '' }).cause, 'agent_failed')
})

test('a refused callback: the message, and what helps', () => {
  const missing = invalid({ content: ['is required'], action: ['must be one of: accept'] })
  assert.is(refusalHint(missing, true), 'Validation failed: content is required, action must be one of: accept.')
  const text = refuse('wrong_content_type', 'application/json')
  assert.match(refusalHint(text, true)!, /^Send this body as application\/json: add the header Content-Type/)
  assert.is(refusalHint(text, false), undefined)
  const early = refuse('task_out_of_turn', 'delivered', 'pending')
  assert.match(refusalHint(early, true)!, "can't be delivered. An agent accepts, then delivers")
  assert.is(refusalHint(early, false), undefined)
  assert.match(refusalHint(refuse('no_such_path', '/api/x'), false)!, 'Callbacks go to data.callbackUrl')
  assert.is(refusalHint(refuse('builder_only'), true), undefined)
})

test.run()
