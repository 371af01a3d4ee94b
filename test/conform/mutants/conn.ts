/** Bugs of agents that can't be listed, or disappear from it. */
import type { Mutant } from './mutant.ts'

export const conn: readonly Mutant[] = [{ bug: 'answers-202', kills: 'conn.endpoint-200' }]
