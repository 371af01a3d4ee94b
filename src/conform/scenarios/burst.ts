/** More tasks at once than one marketplace sends: what an agent meets that several call, or one after a pause. */
import { byHand } from './hand-sent-webhooks.ts'
import type { Scenario } from './scenario.ts'

const AT_ONCE = 20

export const burst: Scenario = {
  name: 'burst',
  lane: 'real',
  when: 'alone',
  async run(stage) {
    const label = 'http.burst'
    const all = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.taken(label)))
    await Promise.all(all.map(({ webhook }) => byHand(stage, label, webhook, { change: 'one of twenty at once' })))
    await Promise.all(all.map(({ task }) => stage.accepted(task)))
  },
}
