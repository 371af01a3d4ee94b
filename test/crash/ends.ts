/** How a server ends: by a signal under load, by a second one, by a disk that fails. */
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createFrontAuthority } from '../../src/sim/agents/https-front.ts'
import { startAgent } from './agent.ts'
import { Callers } from './caller.ts'
import { type Deployment, withDeployment } from './deployment.ts'
import { assertNothingLost, enough } from './kill.ts'
import { startLoad } from './load.ts'
import { settle } from './scenario.ts'
import { readFileAfterCrash } from './stored-state.ts'

/**
 * SIGTERM under load, again and again; `silently`: in the last round the agent leaves its webhooks without an answer,
 * which must not hold up the end. Returns how long each end took, in ms. Throws if an answer was lost.
 */
export async function drainRounds(folder: string, rounds: number, seed: number, silently: boolean): Promise<number[]> {
  const authority = createFrontAuthority()
  const agent = await startAgent(authority)
  const took: number[] = []
  const callers = new Callers()
  const proof = async (deployment: Deployment) => {
    let running = await deployment.start('dev')
    const caller = () => callers.add(running.url)
    const scenario = await settle(agent, seed, 6, running.ready, caller)
    for (let round = 1; ; round++) {
      const load = startLoad(scenario, caller)
      await enough(scenario, load)
      agent.silent = silently && round === rounds
      if (agent.silent) await wait(200)
      const from = performance.now()
      const { code, out, err } = await running.kill('SIGTERM')
      took.push(Math.round(performance.now() - from))
      assert.is(code, 0, err)
      if (agent.silent) assert.not.match(out, '"reason":"timeout"', 'the end waited for an agent')
      load.stopped = true
      await load.ended
      if (load.fault) throw load.fault
      assertNothingLost(scenario, await readFileAfterCrash(deployment.file))
      await deployment.check()
      if (round === rounds) return took
      running = await deployment.start('dev')
    }
  }
  try {
    return await withDeployment(folder, await authority.ca, proof)
  } finally {
    callers.close()
    await agent.close()
  }
}

/** Ends the server by two signals while a request is under way. Returns its exit code. */
export const endedTwice = (folder: string): Promise<number | null> =>
  withDeployment(folder, null, async deployment => {
    const running = await deployment.start('serve')
    const { port } = new URL(running.url)
    const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    // Its body never comes, so the first signal waits for it.
    socket.write(`POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`)
    socket.write('Content-Length: 100\r\nExpect: 100-continue\r\n\r\n')
    await once(socket, 'data')
    running.signal('SIGTERM')
    await unready(running.url)
    const { code } = await running.kill('SIGTERM')
    socket.destroy()
    return code
  })

/** Waits until nobody is let in any more. */
async function unready(url: string) {
  for (;;) {
    const open = await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (!open) return
    await wait(5)
  }
}
