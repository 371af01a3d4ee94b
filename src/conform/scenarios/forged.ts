/** Webhooks that the agent must not believe. Each is about a task of its own that waits for the agent, and differs in one thing from the genuine one. */
import { type Forgery, forgeries } from '../../sim/forgeries.ts'
import { forgedAs } from '../lane/webhook-faults.ts'
import type { Scenario } from './scenario.ts'

/** Names of forgeries, by the checks that send them. */
export const forgeriesOf: Readonly<Record<string, readonly string[]>> = {
  'sig.missing-signature': ['no-signature'],
  'sig.missing-timestamp': ['no-timestamp'],
  'sig.missing-all': ['no-headers'],
  'sig.empty': ['empty-headers'],
  'sig.wrong-secret': ['wrong-secret'],
  'sig.empty-secret': ['empty-secret'],
  'sig.one-bit': ['other-digit'],
  'sig.first-half': ['half-right'],
  'sig.truncated': ['short'],
  'sig.trailing-garbage': ['longer'],
  'sig.not-hex': ['no-digest', 'long'],
  'sig.body-one-byte': ['changed-byte'],
  'sig.body-appended': ['added-newline'],
  'sig.body-other-spelling': ['other-spelling'],
  'sig.time-swapped': ['moved-timestamp'],
  'sig.time-not-signed': ['body-alone'],
  'sig.no-dot': ['no-dot'],
  'sig.stale-301s': ['old-timestamp'],
  'sig.stale-day': ['day-old'],
  'sig.future-301s': ['future-timestamp'],
  'sig.seconds': ['seconds'],
  'sig.not-a-number': ['no-number'],
}

const forgeryNamed = (wanted: string): Forgery => forgeries.find(({ name }) => name === wanted)!

export const forged: Scenario = {
  name: 'forged',
  lane: 'real',
  async run(stage) {
    // The genuine one comes first, in the same state of a like task: an agent that refuses everything proves nothing.
    const twin = await stage.task('sig.valid')
    await stage.answered(twin, 'task.submitted')
    for (const [id, names] of Object.entries(forgeriesOf)) {
      for (const name of names) {
        const task = await stage.task(names.length === 1 ? id : `${id}/${name}`, {
          fault: forgedAs(forgeryNamed(name)),
        })
        await stage.answered(task, 'task.submitted')
      }
    }
  },
}
