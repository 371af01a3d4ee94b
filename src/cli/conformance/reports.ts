/** Writes each report to stdout or to a file. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { History } from '../../conform/history/history.ts'
import type { Asked, Report } from '../../conform/judging/report.ts'
import { besides, reports } from '../../conform/reports/index.ts'
import { type ReportName, reportNames } from '../../conform/reports/names.ts'
import { environment, UsageError } from '../../settings/config.ts'
import { makeFolders } from '../../store/folders.ts'
import { diskReason } from '../output/disk-faults.ts'
import type { CommandOutput } from '../output/output.ts'
import { appendText, mannerOf, print, write, writeText } from '../output/ui.ts'

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

/** A file that is written twice, or written where another flag reads it, would be lost without a word. */
export function refuseSharedFiles(
  wanted: readonly WantedReport[],
  others: readonly (readonly [flag: string, path: string | undefined])[],
): void {
  const byFile = new Map<string, string>()
  for (const [flag, path] of [...others, ...wanted.map(({ name, path }) => [`--report ${name}`, path] as const)]) {
    if (path === undefined || path === null) continue
    const file = resolve(path)
    const other = byFile.get(file)
    if (other !== undefined)
      throw new UsageError(`${other} and ${flag} can't be one file: give each its own, not ${file} twice.`)
    byFile.set(file, flag)
  }
}

/** Throws before anything is done for it, if `flag` asks for a file that can't be written. */
export function ensureWritable(flag: string, path: string): void {
  try {
    makeFolders(dirname(path))
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    throw new UsageError(`${flag}: ${path} can't be written: ${diskReason(error as Error)}.`)
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${flag}: ${path} is a folder; give a file in it.`)
}

const isReport = (name: string): name is ReportName => (reportNames as readonly string[]).includes(name)

interface Told {
  readonly report: Report
  readonly asked: Asked
  readonly history: History
  readonly output: CommandOutput
}

/**
 * Files are written whole, but for the summary of a step, which other steps write to too. Returns a sentence for each that
 * could not be written.
 */
export function writeReports(wanted: readonly WantedReport[], { report, asked, history, output }: Told): string[] {
  const lost: string[] = []
  for (const { name, path } of wanted) {
    const text = reports[name](report, history, asked)
    // The runner reads both streams; the report for programs stays whole.
    write(output.json ? process.stderr : process.stdout, besides[name]?.(report, history) ?? '')
    const step = name === 'github' ? environment().GITHUB_STEP_SUMMARY : undefined
    if (path !== null) lost.push(...lostOf(`--report ${name}`, path, () => writeWhole(path, text)))
    else if (step) lost.push(...lostOf(`--report ${name}`, step, () => appendText(step, text)))
    else print(text, mannerOf(text))
  }
  return lost
}

/** The run can't be had again, so one file that is lost takes nothing else with it. */
export function lostOf(flag: string, path: string, write: () => void): string[] {
  try {
    write()
    return []
  } catch (error) {
    return [`${flag}: ${path} can't be written: ${diskReason(error as Error)}.`]
  }
}

export function writeWhole(path: string, text: string): void {
  makeFolders(dirname(path))
  writeText(path, text)
}
