/** Bugs of agents that end, hang, or forget. */
import type { Mutant } from './mutant.ts'

export const rel: readonly Mutant[] = [
  { bug: 'ends-of-a-cut-body', kills: 'rel.cut-body' },
  { bug: 'ends-of-closed-connections', kills: 'rel.hang-up' },
  { bug: 'ends-of-no-json', kills: 'rel.not-json' },
  { bug: 'ends-of-no-body', kills: 'rel.empty-body' },
  { bug: 'ends-of-no-event', kills: 'rel.not-an-event' },
  { bug: 'ends-of-long-bodies', kills: 'rel.two-megabytes' },
  { bug: 'drops-retries', kills: 'rel.down-and-up' },
  { bug: 'forgets-what-it-began', kills: 'rel.killed-in-work' },
  { bug: 'waits-for-a-copy-to-go-on', kills: 'rel.killed-in-work' },
  { bug: 'ends-at-once', kills: 'rel.sigterm' },
  { bug: 'ignores-sigterm', kills: 'rel.sigterm' },
  { bug: 'tires', kills: 'rel.alive' },
]
