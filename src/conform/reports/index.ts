/** Every form that a report has, besides that for people at a terminal. */
import type { History } from '../history.ts'
import type { Report } from '../report.ts'

type WriteReport = (report: Report, history: History) => string

export const reports: Readonly<Record<string, WriteReport>> = {
  json: report => `${JSON.stringify(report, null, 2)}\n`,
}
