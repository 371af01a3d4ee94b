// engines: embedded; process: shared
/** What helps where no signature is wrong: after an unwelcome response of an agent, and after a refused request of one. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { refusalHint } from '../../../src/api/diagnosis/refusals.ts'
import { responseHint } from '../../../src/api/diagnosis/responses.ts'
import { invalid, refuse } from '../../../src/api/failures.ts'

const hintOn = (status: number, body = '', location?: string) => responseHint({ status, location, body })

test('a response to a webhook: what the agent said, and what helps', () => {
  assert.match(
    hintOn(308, 'moved', '/webhook/')!,
    /^Redirects are not followed\. Save the URL that it leads to, \/webhook\//,
  )
  assert.match(hintOn(302)!, 'Save the URL that it leads to.')
  assert.match(hintOn(401)!, /^It did not accept the signature/)
  assert.match(hintOn(404, '{"error":"no route"}')!, /^It said “no route”\. Look at the path/)
  assert.match(hintOn(500, '{"error":{"message":"out of ideas"}}')!, 'It said “out of ideas”. The agent failed')
  const page = '<html><style>p { color: red }</style><pre>TypeError: no\n  such thing</pre></html>'
  assert.match(hintOn(500, page)!, 'It said “TypeError: no such thing”.')
  assert.ok(hintOn(500, 'x'.repeat(9_999))!.length < 300)
  assert.match(hintOn(504)!, 'Answer 200 at once')
  assert.is(hintOn(418), null)
  assert.is(hintOn(418, 'null'), 'It said “null”.')
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
