/** The first things that happen to an agent: a test, and one task from submit to payment. What it does decides what else can be tried. */
import type { Scenario } from './scenario.ts'

export const firstContact: Scenario = {
  name: 'first contact',
  lane: 'real',
  when: 'first',
  async run(stage) {
    // A cold start is nobody's fault, so the first webhook is not judged by its time.
    await stage.lane.test('warm-up')
    await stage.lane.test('conn.endpoint-200')
    const task = await stage.task('first-task')
    // Nobody waits for a person.
    if (stage.declared.work === 'manual') await stage.accepted(task)
    else await stage.delivered(task)
  },
}
