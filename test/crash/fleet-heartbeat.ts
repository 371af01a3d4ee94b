/** Runs of the heartbeat on three servers at once: each is run by one of them, also if that one dies amid it. */
import { setTimeout as wait } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { heartbeat } from '../../src/api/limits.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { Caller } from './caller.ts'
import { type Fleet, withFleet } from './fleet.ts'
import { settle, signedRequest } from './scenario.ts'

/** Until the lease of one that died is over, and another has looked. */
const TAKEN_OVER_MS = heartbeat.afterStartMs + 2 * heartbeat.leaseMs + heartbeat.lookMs

/** Returns how long a run took that all servers began to look for together, and one whose server died, in ms. */
export async function heartbeats(folder: string): Promise<{ togetherMs: number; takenOverMs: number }> {
  return withFleet(folder, {}, async (fleet, agent) => {
    const caller = new Caller(fleet.url)
    const killAll = () => Promise.all(fleet.urls.map((_, place) => fleet.kill(place)))
    await settle(agent, 1, 0, await fleet.furnish(), () => new Caller(fleet.url))
    let tests = 0
    let answer = true
    agent.work = ({ data }) => {
      tests++
      const signed = signedRequest(agent.secret, data.callbackUrl, { action: 'accept' })
      if (answer) caller.send('POST', signed).catch(() => {})
    }
    await fallDue(fleet)
    await killAll()
    const togetherMs = await untilRun(fleet)
    assert.is(tests, 1, 'all three looked, one tested')

    await fallDue(fleet)
    answer = false
    await killAll()
    await until('the second test', () => tests === 2)
    answer = true
    await killAll()
    const takenOverMs = await untilRun(fleet)
    assert.is(tests, 3, 'once by the one that died, once by the one that took over')
    caller.close()
    await fleet.end()
    return { togetherMs, takenOverMs }
  })
}

/** As if the last run had been one boundary ago. */
const fallDue = ({ db }: Fleet) =>
  db.write(async tx => {
    await tx.run('UPDATE agents SET tested_at = tested_at - $1', [heartbeat.everyMs])
    await tx.run('UPDATE jobs SET next_at = next_at - $1', [heartbeat.everyMs])
  })

async function untilRun({ db }: Fleet): Promise<number> {
  const from = Date.now()
  const patience = AbortSignal.timeout(TAKEN_OVER_MS + PATIENCE_MS)
  const isDue = () => db.read(q => q.get('SELECT name FROM jobs WHERE next_at <= $1', [Date.now()]))
  while (await isDue()) {
    assert.not(patience.aborted, 'the heartbeat was not run')
    await wait(100)
  }
  return Date.now() - from
}
