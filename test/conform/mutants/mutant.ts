import type { Declared } from '../../../src/conform/agent/declared.ts'

/** What a mutant is: the right agent with one bug, and the checks that see it. */
export interface Mutant {
  /** A switch of test/conform/agents/mutant.mjs. */
  readonly bug: string
  /** The check that is about it. */
  readonly kills: string
  /** Others that see it too: an id, or an area (`sig`) whose checks may see it or not. */
  readonly also?: readonly string[]
  /** Others whose line names the bug as well, where all checks look. */
  readonly named?: readonly string[]
  /** Checks that are played too, and that do not mind, as they come after one that sees it. */
  readonly beside?: readonly string[]
  /** What its author says besides the usual. */
  readonly declared?: Partial<Declared>
}
