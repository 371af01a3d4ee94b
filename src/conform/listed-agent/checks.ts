/**
 * The checks of an agent that is looked at where a marketplace lists it: by its connection test, by what its buyer is told, and by the log
 * of its deliveries. What else it sends, only that marketplace sees. Source: A-262.
 */

import { checks } from '../checks/index.ts'
import type { History } from '../history/history.ts'
import type { Check } from '../judging/check.ts'
import { withPrerequisites } from '../judging/selection.ts'
import { judgesOfLog } from './log-judges.ts'
import { type OutsideJudge, scenes } from './scenes.ts'
import { judgesOfTasks } from './task-judges.ts'
import { judgesOfTests } from './test-judges.ts'

const judges: Readonly<Record<string, OutsideJudge>> = { ...judgesOfTests, ...judgesOfTasks, ...judgesOfLog }

export const outsideChecks: readonly Check[] = checks.map(check => {
  const { scenario = scenes.unseen, after = [], judge = check.judge } = judges[check.id] ?? {}
  return { ...check, scenario, after, judge }
})

/** The checks that a history is for. */
export const censusOf = (history: History): readonly Check[] =>
  history.begin.agent.listed === undefined ? checks : outsideChecks

/** What has to be done for these checks, and for those that they depend on. */
export const scenesFor = (some: readonly Check[]): ReadonlySet<string> =>
  new Set(
    withPrerequisites(outsideChecks, some).flatMap(({ id, scenario }) => [scenario, ...(judges[id]?.plays ?? [])]),
  )
