/** Where each report goes: to stdout, or to a file. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '../../config.ts'
import type { History } from '../../conform/history.ts'
import type { Report } from '../../conform/report.ts'
import { reports } from '../../conform/reports/index.ts'

export interface WantedReport {
  readonly name: string
  /** null: stdout. */
  readonly path: string | null
}

/** `junit=out/junit.xml` is written to the file, `junit` printed. */
export function reportsIn(given: readonly string[]): WantedReport[] {
  const wanted = given.map(text => {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (!Object.hasOwn(reports, name))
      throw new UsageError(
        `--report knows no ${name}. It takes ${Object.keys(reports).join(', ')}, or one with a file: junit=out/junit.xml.`,
      )
    return { name, path: at < 0 ? null : text.slice(at + 1) }
  })
  if (wanted.some(({ path }) => path === '')) throw new UsageError('--report NAME=FILE needs the file behind =.')
  if (wanted.filter(({ path }) => path === null).length > 1)
    throw new UsageError('Only one report fits on stdout: give the others a file, as --report junit=out/junit.xml.')
  return wanted
}

export function writeReports(wanted: readonly WantedReport[], report: Report, history: History): void {
  for (const { name, path } of wanted) {
    const text = reports[name]!(report, history)
    if (path === null) process.stdout.write(text)
    else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
  }
}
