// engines: embedded; process: shared
/** Somebody's agent that is started: what it writes is heard line by line, and nothing of it is left behind. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StartedAgent } from '../../../src/sim/agents/started-agent.ts'
import { until } from '../../support/patience.ts'

/** Starts it, and waits until it has ended by itself. */
async function endOf(command: string) {
  const lines: string[] = []
  let ended: Parameters<ConstructorParameters<typeof StartedAgent>[0]['onEnd']> | undefined
  const agent = new StartedAgent({
    command,
    env: () => process.env,
    onLine: (stream, line) => lines.push(`${stream}: ${line}`),
    onEnd: (...end) => (ended = end),
  })
  agent.start()
  assert.type(agent.pid, 'number')
  await until('its end', () => ended)
  const [how, { code, signal, said }] = ended!
  await said
  assert.is(agent.pid, undefined)
  await agent.close()
  agent.start()
  assert.is(agent.pid, undefined, 'it is closed')
  return { how, code, signal, lines }
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('an agent that ends says how, and what it has started ends with it', async () => {
  const { lines, ...end } = await endOf('sleep 1000 >/dev/null 2>&1 & echo $!; exit 3')
  assert.equal(end, { how: 'with exit code 3', code: 3, signal: null })
  const started = Number(lines[0]!.replace('stdout: ', ''))
  assert.ok(started > 0)
  await until('the end of what it has started', () => !isAlive(started))
  const { how, code, signal } = await endOf('kill -9 $$')
  assert.equal([how, code, signal], ['by SIGKILL', null, 'SIGKILL'])
})

test('its lines are whole, without their ends, in pieces where they are very long, and the last needs no end', async () => {
  const long = `${process.execPath} -e 'process.stdout.write("x".repeat(20000))'`
  const { lines } = await endOf(`printf 'one\\r\\n\\ntwo\\n'; printf 'wrong' >&2; ${long}`)
  const out = lines.filter(line => line.startsWith('stdout: ')).map(line => line.slice('stdout: '.length))
  assert.equal(out.slice(0, 3), ['one', '', 'two'])
  const pieces = out.slice(3)
  assert.is(pieces.join(''), 'x'.repeat(20_000))
  assert.ok(pieces.length > 1)
  assert.ok(lines.includes('stderr: wrong'))
})

test.run()
