// engines: embedded; process: own
/** test-connection shows each check as it ends, with its own advice. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, start } from './program.ts'

/** Answers 200, and never calls back. */
async function silentAgent() {
  const server = http.createServer((request, response) => request.resume().once('end', () => response.end()))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`, close: () => server.close() }
}

test(
  'with the dev of the folder, a check is shown while the next one is waited for',
  inFolder(async folder => {
    const agent = await silentAgent()
    const dev = start(['dev', '--json', '--port', '0', '--agent', `quiet=${agent.url}`], folder)
    await dev.firstLine
    let isOver = false
    // Until the test that dev itself makes is over.
    for (let tries = 0; tries < 20 && !isOver; tries++) {
      const { child, ended } = start(['test-connection', 'quiet'], folder)
      const times: number[] = []
      child.stdout!.on('data', () => times.push(Date.now()))
      const { code, out, err } = await ended
      if (err.includes('test of this agent is running')) continue
      assert.is(code, 0, err)
      // dev waits two seconds for a callback that does not come.
      assert.ok(times.at(-1)! - times[0]! > 1_000, JSON.stringify(times))
      assert.match(out, /^✔ 1 .*\n✔ 2 .*\n✔ 3 .*\n✔ 4 .*\n! 5 callback +No callback arrived.*\n$/)
      assert.is(err.match(/After its 200 the agent must POST/g)?.length, 1)
      isOver = true
    }
    assert.ok(isOver)
    dev.child.kill('SIGTERM')
    await dev.ended
    agent.close()
  }),
)

test.run()
