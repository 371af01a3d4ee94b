// engines: embedded; process: own
/** Where an agent is found that was told its port alone: `localhost` is 127.0.0.1 on one machine and ::1 on another. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { AgentUnderTest } from '../../src/conform/agent/agent-under-test.ts'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { run, scenariosFor } from '../../src/conform/run.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { inTime } from '../support/patience.ts'

const test = suite('address')
const hasIpv6 = Object.values(networkInterfaces()).some(of => of?.some(({ address }) => address === '::1'))

if (hasIpv6) {
  test('an agent that listens at ::1 alone is judged, and started anew, as any other', async () => {
    const wanted = checks.filter(({ id }) => id === 'sig.valid' || id === 'conn.new-secret')
    const history = await run({
      ...{ url: null, secret: null, declared: nothingDeclared, seed: 1, scenarios: scenariosFor(wanted) },
      command: 'exec node test/conform/agents/mutant.mjs --style ipv6',
    })
    assert.equal(
      judge(wanted, history).map(({ id, verdict }) => `${id} ${verdict}`),
      ['conn.new-secret pass', 'sig.valid pass'],
    )
    assert.ok(history.of('webhook').every(({ url }) => url.startsWith('http://[::1]:')))
  })

  test('another program that has ::1 already is not taken for the agent', async () => {
    const port = await freePort()
    const other = createServer().listen({ port, host: '::1', ipv6Only: true })
    await once(other, 'listening')
    // It listens only when the other has been there for some looks.
    const late = `setTimeout(() => require("net").createServer().listen(${port}, "127.0.0.1"), 500)`
    const agent = new AgentUnderTest({
      ...{ url: `http://127.0.0.1:${port}/webhook`, otherUrl: `http://[::1]:${port}/webhook` },
      ...{ id: 'agt', secret: 's', keyBytes: Buffer.alloc(24), recorder: { add: () => 0 }, chance: () => 0 },
      command: `exec node -e '${late}'`,
    })
    try {
      await inTime('the agent is reached', agent.open())
      assert.is(agent.url, `http://127.0.0.1:${port}/webhook`)
    } finally {
      await agent.close()
      other.close()
    }
  })
}

test.run()
