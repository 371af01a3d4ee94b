/** What is done to a listed agent, by name: each check says which of these it judges. */

import type { History } from '../history/history.ts'
import type { Finding } from '../judging/check.ts'

/** How a check is judged from outside. */
export interface OutsideJudge {
  readonly scenario: string
  readonly after?: readonly string[]
  /** What has to be done before, so that there is something to see in its scenario. */
  readonly plays?: readonly string[]
  /** That it holds can't be seen. */
  readonly faultsOnly?: boolean
  /** As where a marketplace is played to it, unless given. */
  readonly judge?: (history: History) => Finding
}

export const scenes = {
  test: 'connection test',
  life: 'a whole life',
  pair: 'two equal tasks',
  cancellation: 'a cancellation',
  rejection: 'a sample that it rejects',
  lastTest: 'connection test after all',
  log: 'delivery log',
  /** What can't be seen. */
  unseen: 'unseen',
} as const

/** How many tasks each needs, in the order in which they are bought. More than five an hour no marketplace takes from one account. */
export const purchases = [
  [scenes.life, 1],
  [scenes.cancellation, 1],
  [scenes.pair, 2],
  [scenes.rejection, 1],
] as const satisfies readonly (readonly [string, number])[]

export type Purchase = (typeof purchases)[number][0]

/** Labels of what is recorded. */
export const labels = {
  first: 'first-task',
  cancelled: 'life.cancelled',
  pair: 'dup.not-by-content',
  rejected: 'life.sample-rejected',
  test: 'conn.endpoint-200',
  testAgain: 'conn.test-twice',
  testBeside: 'conn.test-beside-work',
  testAtEnd: 'rel.alive',
  deliverables: 'deliverables',
  messages: 'messages',
} as const
