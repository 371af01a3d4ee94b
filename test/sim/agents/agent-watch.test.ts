// engines: embedded; process: shared
/** Whether an agent of this machine accepts connections, and how that is told. */
import http from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AgentWatch, accepts } from '../../../src/sim/agents/agent-watch.ts'
import { freePort } from '../../../src/sim/agents/free-port.ts'
import { lookup } from '../../../src/sim/agents/https-front.ts'
import { until } from '../../support/patience.ts'

async function up(port: number) {
  const server = http.createServer().listen(port, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return () => new Promise(resolve => server.close(resolve))
}

test('it is told once that nothing listens, and once that it is up; looked at again, from the start', async () => {
  const port = await freePort()
  const heard: string[] = []
  const watch = new AgentWatch(`http://here.localhost:${port}/webhook`, {
    onUp: wasDown => heard.push(wasDown ? 'is back' : 'is up'),
    onDown: () => heard.push('is down'),
  })
  watch.look()
  await until('that it is down', () => heard.length > 0)
  let down = await up(port)
  await until('that it is up', () => heard.length > 1)
  watch.look()
  await until('that it is up still', () => heard.length > 2)
  watch.look({ untilBack: true })
  await down()
  await until('that it went', () => heard.length > 3)
  down = await up(port)
  await until('that it came back', () => heard.length > 4)
  assert.equal(heard, ['is down', 'is back', 'is up', 'is down', 'is back'])
  watch.look()
  watch.close()
  watch.look()
  const isUp = () => accepts(new URL(`http://here.localhost:${port}`), lookup)
  // The one that was under way when it was closed has an answer by then.
  assert.equal([await isUp(), await isUp()], [true, true])
  await down()
  assert.equal([await accepts(new URL(`http://127.0.0.1:${port}`)), heard.length], [false, 5])
})

test.run()
