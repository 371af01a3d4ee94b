// engines: embedded; process: shared
/** What a started agent is told about proxies. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { StartedAgent, withoutLoopbackProxy } from '../../../src/sim/agents/started-agent.ts'

const LOOPBACK = 'localhost,127.0.0.1,::1'

test('without a proxy nothing is said of any', () => {
  const env = { PATH: '/bin', NO_PROXY: 'intranet.example' }
  assert.is(withoutLoopbackProxy(env), env)
})

test('this machine goes past every proxy, in both ways of writing, besides what went past it before', () => {
  for (const name of ['http_proxy', 'HTTPS_PROXY', 'all_proxy']) {
    const proxy = { [name]: 'http://proxy.example' }
    assert.equal(withoutLoopbackProxy(proxy), { ...proxy, no_proxy: LOOPBACK, NO_PROXY: LOOPBACK }, name)
  }
  const before = { http_proxy: 'http://proxy.example', NO_PROXY: 'intranet.example' }
  assert.is(withoutLoopbackProxy(before).no_proxy, `intranet.example,${LOOPBACK}`)
  const none = { http_proxy: 'http://proxy.example', NO_PROXY: '*' }
  assert.is(withoutLoopbackProxy(none), none, 'no host goes by the proxy')
})

test('an agent is started with it', async () => {
  const said = await new Promise<string>(resolve => {
    const agent = new StartedAgent({
      command: 'echo "$no_proxy"',
      env: () => ({ PATH: process.env.PATH, HTTP_PROXY: 'http://proxy.example' }),
      onLine: (_, line) => resolve(line),
      onEnd: () => {},
    })
    agent.start()
  })
  assert.is(said, LOOPBACK)
})

test.run()
