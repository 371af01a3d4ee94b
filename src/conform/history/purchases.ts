/** What a run has bought from an agent that is listed elsewhere. */

export interface BoughtTask {
  readonly id: string
  readonly label: string
  /** In cents, as all that follows. */
  readonly price: number
  /** As it was last seen. */
  readonly status: string
}

/** What has become of the money of a run that buys from an agent listed elsewhere. */
export interface Purchases {
  /** So much was allowed. */
  readonly limit: number
  /** Of tasks that were approved. */
  readonly spent: number
  /** Of tasks that are still open. */
  readonly held: number
  readonly tasks: readonly BoughtTask[]
}
