/** Where each report goes: to stdout, or to a file. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { environment, UsageError } from '../../config.ts'
import type { History } from '../../conform/history.ts'
import type { Report } from '../../conform/report.ts'
import { besides, reports } from '../../conform/reports/index.ts'
import { type ReportName, reportNames } from '../../conform/reports/names.ts'
import type { CommandOutput } from '../output/output.ts'

export interface WantedReport {
  readonly name: ReportName
  /** null: stdout. */
  readonly path: string | null
}

/** `junit=out/junit.xml` is written to the file, `junit` printed. */
export function reportsIn(given: readonly string[]): WantedReport[] {
  const wanted = given.map(text => {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (!isReport(name))
      throw new UsageError(
        `--report knows no ${name}. It takes ${reportNames.join(', ')}, or one with a file: junit=out/junit.xml.`,
      )
    return { name, path: at < 0 ? null : text.slice(at + 1) }
  })
  if (wanted.some(({ path }) => path === '')) throw new UsageError('--report NAME=FILE needs the file behind =.')
  if (wanted.filter(({ path }) => path === null).length > 1)
    throw new UsageError('Only one report fits on stdout: give the others a file, as --report junit=out/junit.xml.')
  return wanted
}

const isReport = (name: string): name is ReportName => (reportNames as readonly string[]).includes(name)

interface Told {
  readonly report: Report
  readonly history: History
  readonly output: CommandOutput
}

/** Files are written whole, but for the summary of a step, which other steps write to too. */
export function writeReports(wanted: readonly WantedReport[], { report, history, output }: Told): void {
  for (const { name, path } of wanted) {
    const text = reports[name](report, history)
    const said = besides[name]?.(report, history) ?? ''
    // The runner reads both streams; the report for programs stays whole.
    ;(output.json ? process.stderr : process.stdout).write(said)
    const step = name === 'github' ? environment().GITHUB_STEP_SUMMARY : undefined
    if (path !== null) writeWhole(path, text)
    else if (step) appendFileSync(step, text)
    else process.stdout.write(text)
  }
}

function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
