/** Rounds, medians, and the table that is printed in the end. */

export interface Row {
  name: string
  ours: string
  peer: string
  ratio: number
  /** `>= 1.5` or `<= 25`, of `ratio`. */
  wanted: string
}

/** Runs both sides one after the other, several times, the first of them turn about; answers each side's median. */
export async function rounds(
  count: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<{ ours: number; peer: number; ratio: number }> {
  const mine: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < count; round++) {
    if (round % 2 === 0) mine.push(await ours())
    theirs.push(await peer())
    if (round % 2 === 1) mine.push(await ours())
  }
  const [a, b] = [median(mine), median(theirs)]
  return { ours: a, peer: b, ratio: a / b }
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
}

export function isMet({ ratio, wanted }: Row): boolean {
  const [sign, limit] = wanted.split(' ')
  return sign === '>=' ? ratio >= Number(limit) : ratio <= Number(limit)
}

export function printTable(rows: readonly Row[]): void {
  const heads = ['', 'ours', 'peer', 'ratio', 'wanted', 'ok']
  const lines = rows.map(row => [
    row.name,
    row.ours,
    row.peer,
    row.ratio.toFixed(2),
    row.wanted,
    isMet(row) ? 'yes' : 'NO',
  ])
  const widths = heads.map((head, i) => Math.max(head.length, ...lines.map(line => line[i]!.length)))
  for (const line of [heads, ...lines]) {
    console.log(line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '))
  }
}

export const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en')}/s`
export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`
