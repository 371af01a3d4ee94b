/** What acts by the simulator's clock and is no row: simulated buyers. Source. */

/** What somebody does at a time. */
export interface PlannedStep {
  readonly at: number
  /** The task that it is about. */
  readonly id: string
  /** Who does it. */
  readonly about: string
}

export interface ClockFollower {
  /** Does what is due now. `isMoving`: the clock is on its way; what nobody has begun waits until it has arrived. */
  act(isMoving: boolean): Promise<void>
  /** What is planned so far. */
  planned(): readonly PlannedStep[]
}

export class ClockFollowers {
  readonly #all = new Set<ClockFollower>()

  /** Returns how to end it. */
  add(follower: ClockFollower): () => void {
    this.#all.add(follower)
    return () => void this.#all.delete(follower)
  }

  async act(isMoving: boolean): Promise<void> {
    for (const follower of this.#all) await follower.act(isMoving)
  }

  /** The steps behind `after`. */
  after = (after: number): readonly PlannedStep[] =>
    [...this.#all].flatMap(follower => follower.planned()).filter(({ at }) => at > after)

  /** The steps of the first moment after `after`. */
  next(after: number): readonly PlannedStep[] {
    const later = this.after(after)
    const at = Math.min(...later.map(step => step.at))
    return later.filter(step => step.at === at)
  }
}
