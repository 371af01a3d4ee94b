/** What a run found: one line for each mutant, and what they say together. */
import type { Length } from '../support/length.ts'
import type { Judgement } from './judge.ts'
import type { Mutant, Operator } from './mutant.ts'

export interface Header {
  readonly commit: string
  /** Of sources and tests: a report goes on only where it began. */
  readonly state: string
  readonly seed: number
  readonly count: number
  readonly rooms: readonly string[]
  /** Mutants that there are. */
  readonly population: number
}

export interface Line extends Judgement {
  readonly name: string
  readonly file: string
  readonly line: number
  readonly operator: Operator
  readonly change: string
  /** Of the tests that it was tried against. */
  readonly length: Length
  /** Why no test can notice it, as the list of equivalents says. */
  readonly equivalent: string | null
}

export const lineOf = ({ file, line, operator, change }: Mutant, name: string) => ({
  name,
  file,
  line,
  operator,
  change,
})

export const isNoticed = ({ fate }: Pick<Judgement, 'fate'>) => fate === 'killed' || fate === 'timeout'

/** One line for each mutant: what the long forms said comes after what the short ones said. */
export function latestOf(lines: readonly Line[]): Line[] {
  const latest = new Map<string, Line>()
  for (const line of lines) {
    const before = latest.get(line.name)
    const isNews = before === undefined || line.fate !== 'unreached'
    latest.set(line.name, isNews ? line : { ...before, length: line.length })
  }
  return [...latest.values()]
}

/** Wilson's interval for a share of which a sample is known, 95 %. */
export function interval(part: number, all: number): [number, number] {
  if (all === 0) return [0, 1]
  const z = 1.96
  const share = part / all
  const middle = share + z ** 2 / (2 * all)
  const reach = z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2))
  const whole = 1 + z ** 2 / all
  return [Math.max(0, (middle - reach) / whole), Math.min(1, (middle + reach) / whole)]
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

function score(name: string, lines: readonly Line[]): string {
  const noticed = lines.filter(isNoticed).length
  const [low, high] = interval(noticed, lines.length)
  const share = percent(lines.length === 0 ? 0 : noticed / lines.length)
  return `${name.padEnd(34)} ${String(noticed).padStart(4)} of ${String(lines.length).padStart(4)}  ${share.padStart(7)}  (${percent(low)} to ${percent(high)})`
}

function grouped(lines: readonly Line[], by: (line: Line) => string): string[] {
  const names = [...new Set(lines.map(by))].sort()
  return names.map(name =>
    score(
      `  ${name}`,
      lines.filter(line => by(line) === name),
    ),
  )
}

/** The score twice: of all that was drawn, and without what is listed as equivalent. */
export function reportText(header: Header, lines: readonly Line[]): string {
  const rest = lines.filter(({ equivalent }) => equivalent === null)
  const alive = rest.filter(line => !isNoticed(line)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const listed = lines.filter(line => line.equivalent !== null)
  return [
    `Seed ${header.seed}: ${lines.length} of ${header.count} drawn from ${header.population} mutants of ${header.rooms.join(', ')}, at ${header.commit}`,
    '',
    score('all drawn', lines),
    score('without the equivalent', rest),
    ...grouped(rest, ({ file }) => file.split('/')[1]!),
    ...grouped(rest, ({ operator }) => operator),
    '',
    `${alive.length} were not noticed:`,
    ...alive.map(line => `  ${line.file}:${line.line}  ${line.operator}: ${line.change}  [${saying(line)}]`),
    '',
    `${listed.length} are listed as equivalent:`,
    ...listed.map(({ file, line, change, equivalent }) => `  ${file}:${line}  ${change}  [${equivalent}]`),
  ].join('\n')
}

const saying = ({ fate, testsRun, testsLeft }: Line) =>
  fate === 'unreached'
    ? 'no test comes here'
    : `${testsRun} tests passed${testsLeft > 0 ? `, ${testsLeft} not run` : ''}`
