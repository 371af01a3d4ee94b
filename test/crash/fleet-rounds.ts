/** Rounds of load on three servers, of which one after the other is killed, and everything that must hold afterwards. */
import { setTimeout as wait } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { dispatch } from '../../src/api/dispatch.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { assertTold } from './agent.ts'
import { Callers } from './caller.ts'
import { type Fleet, type FleetOptions, withFleet } from './fleet.ts'
import { assertNothingLost, assertShown, enough, type Passed, sendAgain } from './kill.ts'
import { type Load, startLoad } from './load.ts'
import { type Scenario, settle } from './scenario.ts'
import { readStoredState } from './stored-state.ts'

export interface FleetPlan {
  rounds: number
  seed: number
  /** What goes wrong in each round, while the load goes on. */
  trouble?: (fleet: Fleet, scenario: Scenario, load: Load) => Promise<void>
  fleet?: FleetOptions
}

/** Goes through rounds of load with trouble: two servers are killed, one by one. Throws at the first thing that must not be. */
export async function fleetRounds(
  folder: string,
  { rounds, seed, trouble = killTwo, fleet: options = {} }: FleetPlan,
): Promise<Passed> {
  return withFleet(folder, options, async (fleet, agent) => {
    const callers = new Callers()
    const caller = () => callers.add(fleet.url)
    let load: Load | null = null
    let resent = 0
    try {
      const scenario = await settle(agent, seed, 6, await fleet.furnish(), caller)
      for (let round = 1; round <= rounds; round++) {
        load = startLoad(scenario, caller, { lasting: true })
        await trouble(fleet, scenario, load)
        await enough(scenario, load)
        load.stopped = true
        await load.ended
        if (load.fault) throw load.fault
        callers.close()
        await fleet.settled()
        const stored = await fleet.db.read(readStoredState)
        const unanswered = assertNothingLost(scenario, stored)
        await assertShown(scenario, caller(), stored, fleet)
        resent += await sendAgain(scenario, caller(), unanswered, stored)
      }
      const seen = await assertAllTold(scenario, fleet)
      const last = await fleet.db.read(readStoredState)
      assertNothingLost(scenario, last)
      await fleet.end()
      const { answers, cuts } = scenario
      const webhooks = seen.size
      const repeated = agent.webhooks.length - webhooks
      return { answers, cuts, tasks: last.tasks.size, webhooks, repeated, resent }
    } finally {
      // Else it would go on against servers that are gone.
      if (load) load.stopped = true
      callers.close()
    }
  })
}

async function killTwo(fleet: Fleet, scenario: Scenario, load: Load) {
  for (let kill = 0; kill < 2; kill++) {
    await enough(scenario, load)
    await fleet.kill(Math.floor(scenario.random() * fleet.urls.length))
  }
}

/** Every event has reached the agent, and is known to have. */
async function assertAllTold({ agent }: Scenario, { db }: Fleet): Promise<Set<string>> {
  for (const patience = AbortSignal.timeout(dispatch.leaseMs + PATIENCE_MS); ; await wait(50)) {
    const { deliveries } = await db.read(readStoredState)
    const open = deliveries.filter(({ state }) => state !== 'delivered')
    if (open.length > 0 && !patience.aborted) continue
    assert.equal(open, [], 'not told')
    const seen = assertTold(agent.webhooks, deliveries)
    assert.equal(
      [...seen].sort(),
      deliveries.map(({ id }) => id),
      'every event has reached the agent',
    )
    return seen
  }
}
