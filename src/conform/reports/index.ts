/** Every form that a report has, besides that for people at a terminal. */
import type { History } from '../history/history.ts'
import type { Asked, Report } from '../judging/report.ts'
import { badge } from './badge.ts'
import { ctrf } from './ctrf.ts'
import { annotations, githubSummary } from './github.ts'
import { htmlPage } from './html.ts'
import { junit } from './junit.ts'
import type { ReportName } from './names.ts'
import { sarif } from './sarif.ts'
import { tap } from './tap.ts'

/** `asked`: what decides about the run; unless given, what an agent must do. */
type WriteReport = (report: Report, history: History, asked?: Asked) => string

export const reports: Readonly<Record<ReportName, WriteReport>> = {
  json: report => `${JSON.stringify(report, null, 2)}\n`,
  ctrf,
  junit,
  tap,
  sarif,
  /** Markdown for the summary; its annotations go to stdout. */
  github: githubSummary,
  badge,
  html: htmlPage,
}

/** What a report says on stdout besides. */
export const besides: Readonly<Partial<Record<ReportName, WriteReport>>> = { github: annotations }
