// engines: embedded; process: own
/** An agent behind a proxy, which is there a moment before it: the proxy's refusals are not the agent's. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ComingUp } from '../../src/conform/agent/coming-up.ts'
import { nothingDeclared } from '../../src/conform/agent/declared.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { run, scenariosFor } from '../../src/conform/run.ts'

test('it is judged when it is there, after each of its starts', async () => {
  const wanted = checks.filter(({ id }) => ['conn.endpoint-200', 'conn.new-secret', 'sig.valid'].includes(id))
  for (const status of [502, 503, 504]) {
    const history = await run({
      ...{ url: null, secret: null, declared: nothingDeclared, seed: 1, scenarios: scenariosFor(wanted) },
      command: `exec node test/conform/agents/behind-proxy.mjs ${status}`,
    })
    assert.equal(
      judge(wanted, history).map(({ id, verdict, text }) => [id, verdict, text]),
      ['conn.endpoint-200', 'conn.new-secret', 'sig.valid'].map(id => [id, 'pass', '']),
    )
  }
})

test('what an agent itself says counts from its first answer on, and nothing is waited for once it has ended', async () => {
  const comingUp = new ComingUp()
  const told = (...statuses: number[]) => {
    const left = [...statuses]
    return comingUp.answered(async () => ({ answer: { status: left.shift()! }, error: null }))
  }
  assert.is((await told(502, 504, 401)).answer.status, 401)
  assert.is((await told(502, 200)).answer.status, 502)
  comingUp.starts()
  assert.is((await told(503, 200)).answer.status, 200)
  comingUp.starts()
  const refused = { answer: null, error: 'refused: nobody' }
  const ended = await comingUp.answered(async () => {
    comingUp.ends()
    return refused
  })
  assert.is(ended, refused)
})

test.run()
