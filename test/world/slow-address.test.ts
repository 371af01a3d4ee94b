// engines: embedded; process: own
/** An address that takes its time to accept is waited for, although the next one refuses at once. Source: A-164. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { closeOpened, openEgress } from '../support/servers.ts'

/** Its queue of connections is full while it stands still: the system drops what comes then, and the client knocks again. */
const SLOW = `
  const server = require('node:http').createServer((_, answer) => answer.end('here'))
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
    process.stdout.write(String(server.address().port))
    process.stdin.once('data', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900))
  })`

test.after.each(closeOpened)

test('an address that is slow to accept is not given up for one that refuses', async () => {
  const agent = spawn(process.execPath, ['-e', SLOW], { stdio: ['pipe', 'pipe', 'inherit'] })
  const others: net.Socket[] = []
  try {
    const port = Number(String((await once(agent.stdout, 'data'))[0]))
    agent.stdin.write('stand still')
    // What the system accepts for it fills the queue.
    while (await accepts(port, others));
    const lookup = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]
    const egress = openEgress({ allowLoopback: true, requireHttps: false, lookup })
    const result = await egress.post({
      url: `http://agent.example:${port}/`,
      headers: {},
      body: '{}',
      timeoutMs: 20_000,
      maxResponseBytes: 20_000,
    })
    assert.is(result.ok && result.status, 200, JSON.stringify(result))
  } finally {
    for (const other of others) other.destroy()
    agent.kill()
  }
})

/** Whether one connection more is accepted soon. */
async function accepts(port: number, kept: net.Socket[]): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  kept.push(socket)
  return Promise.race([once(socket, 'connect').then(() => true), new Promise<boolean>(r => setTimeout(r, 100, false))])
}

test.run()
