/** The agent can't be reached, and so nothing can be said of it. */
export class AgentAway extends Error {
  /** What it has written last. */
  readonly lastLines: readonly string[]

  constructor(message: string, lastLines: readonly string[] = []) {
    super(message)
    this.lastLines = lastLines
  }
}
