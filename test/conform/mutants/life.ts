/** Bugs of agents in what they do about a task. */
import type { Mutant } from './mutant.ts'

export const life: readonly Mutant[] = [
  { bug: 'never-decides', kills: 'life.decides' },
  { bug: 'writes-in-place-of-accepting', kills: 'life.accepts', also: ['life.decides'] },
  { bug: 'delivers-without-accepting', kills: 'life.accept-before-deliver', also: ['life.decides'] },
  { bug: 'never-delivers', kills: 'life.delivers' },
  { bug: 'sends-a-draft', kills: 'life.one-deliverable' },
]
