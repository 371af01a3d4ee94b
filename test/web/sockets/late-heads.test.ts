// engines: embedded; process: shared
/** What a connection is told on which no whole request arrives in time. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { refuseParserError } from '../../../src/web/parser-errors.ts'
import { bareConfig } from '../../support/bare-market.ts'

test('a connection that asked for nothing ends without a word, and half a request is told why', async () => {
  const server = createServer({ headersTimeout: 50, connectionsCheckingInterval: 20 })
  server.on(
    'clientError',
    refuseParserError(bareConfig, () => false),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const told = async (sent: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    if (sent) socket.write(sent)
    let text = ''
    for await (const chunk of socket) text += chunk
    return text
  }
  assert.is(await told(''), '')
  assert.match(await told('GET / HTTP/1.1\r\nHost: '), /^HTTP\/1\.1 400 .*The request took too long to arrive/s)
  server.close()
})

test.run()
