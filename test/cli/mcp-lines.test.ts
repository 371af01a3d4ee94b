// engines: embedded; process: shared
/** Which calls of a client of `mcp` wait for their answer: the server goes on for these when stdin has ended. */
import { PassThrough } from 'node:stream'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LineTransport } from '../../src/cli/mcp/line-transport.ts'

test('a call that is cancelled is waited for no longer, whatever else is told about it, and the others are', async () => {
  const input = new PassThrough()
  const say = (message: object) =>
    input.emit('data', Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`))
  const cancel = (requestId: number) => say({ method: 'notifications/cancelled', params: { requestId } })
  const transport = new LineTransport(input)
  const heard: string[] = []
  transport.onmessage = message => heard.push('method' in message ? message.method : 'answer')
  await transport.start()
  for (const id of [1, 2]) say({ id, method: 'tools/call' })
  let isOver = false
  void transport.allAnswered().then(() => (isOver = true))
  const isOverNow = () => Promise.resolve().then(() => isOver)
  cancel(1)
  say({ method: 'notifications/progress', params: { requestId: 2 } })
  assert.not.ok(await isOverNow(), 'the second still waits')
  cancel(2)
  assert.ok(await isOverNow(), 'none waits')
  assert.equal(heard, [
    ...['tools/call', 'tools/call', 'notifications/cancelled', 'notifications/progress', 'notifications/cancelled'],
  ])
  let isClosed = false
  transport.onclose = () => (isClosed = true)
  await transport.close()
  assert.ok(isClosed)
  cancel(3)
  assert.is(heard.length, 5, 'nothing is heard after the end')
})

test.run()
