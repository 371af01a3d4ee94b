// engines: embedded; process: shared
/** What is private to Node: it is there, and readers are judged without it too. */
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { handleOf, outgoing } from '../../../src/web/sockets/node-internals.ts'

const MEGABYTE = 1024 * 1024

/** Both ends of a connection. */
async function connection() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  const [served] = (await once(server, 'connection')) as [net.Socket]
  const close = () => {
    client.destroy()
    served.destroy()
    server.close()
  }
  return { client: client.pause(), served, close }
}

/** The same socket in a Node whose handles do not count. */
const withoutHandle = (socket: net.Socket): net.Socket =>
  new Proxy(socket, { get: (target, name) => (name === '_handle' ? {} : Reflect.get(target, name, target)) })

test('this version of Node counts the bytes of a large piece that the system has taken', async () => {
  const { client, served, close } = await connection()
  assert.ok(handleOf(served))
  served.write(Buffer.alloc(20 * MEGABYTE))
  const before = outgoing(served)
  assert.ok(before.waiting > before.taken)
  let read = 0
  client.on('data', chunk => {
    read += chunk.length
    if (read > 10 * MEGABYTE) client.pause()
  })
  client.resume()
  await once(client, 'pause')
  const after = outgoing(served)
  assert.ok(after.taken > before.taken && after.waiting > 0)
  close()
})

test('a Node without those counts: what waits is seen all the same, and whole pieces count as taken', async () => {
  const { client, served, close } = await connection()
  const blind = withoutHandle(served)
  assert.is(handleOf(blind), null)
  served.write(Buffer.alloc(20 * MEGABYTE))
  assert.ok(outgoing(blind).waiting >= 20 * MEGABYTE)
  assert.is(outgoing(blind).taken, 0)
  const written = new Promise(resolve => served.once('drain', resolve))
  client.resume()
  await written
  assert.equal(outgoing(blind), { waiting: 0, taken: 20 * MEGABYTE })
  close()
})

test.run()
