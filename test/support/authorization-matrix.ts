/** The matrix of fixtures/authorization.json, read into cells. */
import { readFileSync } from 'node:fs'

const columns = [
  'none',
  'bad key',
  'buyer',
  'other buyer',
  'builder',
  'other builder',
  'admin',
  'session',
  'key',
  'suspended',
  'banned',
  'no role',
  'resting key',
] as const
type Column = (typeof columns)[number]

const targets = ['own', "other's", 'absent', 'any'] as const
type Target = (typeof targets)[number]

export type Person = 'buyer' | 'other buyer' | 'builder' | 'other builder' | 'admin'

export interface Cell {
  readonly target: Target
  readonly column: Column
  readonly status: number
}

export interface Row {
  /** Method and path, as in the interface, and the case in brackets where there are several. */
  readonly label: string
  readonly by: Person
  readonly with: 'key' | 'session' | 'signature'
  readonly cells: readonly Cell[]
}

type Written = { by: Person; with?: Row['with'] } & Partial<Record<Target, string>>

const { columns: header, rows: written } = JSON.parse(
  readFileSync(new URL('../../fixtures/authorization.json', import.meta.url), 'utf8'),
) as { columns: string; rows: Record<string, Written> }

if (header.replaceAll('|', '').replaceAll(/\s+/g, ' ') !== columns.join(', ')) {
  throw new Error(`The columns of the fixture are others: ${header}`)
}

const cellsOf = (target: Target, line: string): Cell[] => {
  const words = line.replaceAll('|', ' ').split(/\s+/)
  if (words.length !== columns.length) throw new Error(`${words.length} cells: ${line}`)
  return columns
    .map((column, i) => ({ target, column, status: Number(words[i]) }))
    .filter(({ status }) => !Number.isNaN(status))
}

export const rows: readonly Row[] = Object.entries(written).map(([label, { by, with: kind = 'key', ...lines }]) => ({
  label,
  by,
  with: kind,
  cells: targets.flatMap(target => (lines[target] === undefined ? [] : cellsOf(target, lines[target]))),
}))

export const endpointOf = ({ label }: Row) => label.replace(/ \(.*\)$/, '')
