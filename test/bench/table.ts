/** Rounds, medians, and the table that is printed in the end. */

export interface Row {
  name: string
  ours: string
  peer: string
  ratio: number
  /** `>= 1.5` or `<= 25`, of `ratio`. */
  wanted: string
}

export interface Compared {
  ours: number
  peer: number
  ratio: number
}

/** Runs both sides one after the other, several times, the first of them turn about. */
export async function rounds(
  count: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<Compared> {
  const mine: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < count; round++) {
    if (round % 2 === 0) mine.push(await ours())
    theirs.push(await peer())
    if (round % 2 === 1) mine.push(await ours())
  }
  return compared(mine, theirs)
}

/**
 * Each side's median of all rounds, and the median of the rounds' ratios: a machine that is slow for some seconds is slow
 * for both sides of a round.
 */
export function compared(ours: readonly number[], peer: readonly number[]): Compared {
  const ratios = ours.map((rate, round) => rate / peer[round]!)
  return { ours: median(ours), peer: median(peer), ratio: median(ratios) }
}

/** A row of rates. */
export const rateRow = (name: string, { ours, peer, ratio }: Compared, wanted: string): Row => ({
  name,
  ours: perSecond(ours),
  peer: perSecond(peer),
  ratio,
  wanted,
})

/** A row of memory. */
export const memoryRow = (name: string, megabytes: number, wanted: string): Row => ({
  name: `${name}, in MB`,
  ours: `${Math.round(megabytes)} MB`,
  peer: '',
  ratio: megabytes,
  wanted,
})

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
