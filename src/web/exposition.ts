/** Counters, histograms and gauges, and the text of Prometheus that they are read as. Source: A-141. */

export type Labels = Readonly<Record<string, string>>

/** The exposition format 0.0.4. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** A counter with labels, which are made once for each key. */
export class Counter {
  readonly #series = new Map<string, { labels: Labels; value: number }>()

  add(key: string, labels: () => Labels, by = 1) {
    const known = this.#series.get(key)
    if (known) known.value += by
    else this.#series.set(key, { labels: labels(), value: by })
  }

  family(name: string, help: string) {
    return counter(
      name,
      help,
      [...this.#series.values()].map(({ labels, value }) => [labels, value]),
    )
  }
}

export class Histogram {
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>()

  observe(key: string, seconds: number, labels: () => Labels) {
    let known = this.#series.get(key)
    if (!known) {
      known = { labels: labels(), counts: BUCKETS.map(() => 0), sum: 0, count: 0 }
      this.#series.set(key, known)
    }
    known.sum += seconds
    known.count++
    for (let i = BUCKETS.length - 1; i >= 0 && seconds <= BUCKETS[i]!; i--) known.counts[i]!++
  }

  family(name: string, help: string) {
    const lines = [...this.#series.values()].flatMap(({ labels, counts, sum, count }) => [
      ...BUCKETS.map((le, i) => line(`${name}_bucket`, { ...labels, le: String(le) }, counts[i]!)),
      line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
      line(`${name}_sum`, labels, sum),
      line(`${name}_count`, labels, count),
    ])
    return family(name, help, 'histogram', lines)
  }
}

type Values = readonly (readonly [Labels, number])[]

/** One value, or one for each set of labels; undefined: none here. */
export const gauge = (name: string, help: string, values: Values | number | undefined) =>
  family(name, help, 'gauge', linesOf(name, values))

/** Of a counter that something else keeps. */
export const counter = (name: string, help: string, values: Values | number | undefined) =>
  family(name, help, 'counter', linesOf(name, values))

export const labelled = (name: string, values: Readonly<Record<string, number>>): Values =>
  Object.entries(values).map(([value, number]) => [{ [name]: value }, number])

function linesOf(name: string, values: Values | number | undefined): string[] {
  const series = typeof values === 'number' ? ([[{}, values]] as const) : (values ?? [])
  return series.map(([labels, value]) => line(name, labels, value))
}

const family = (name: string, help: string, type: string, lines: readonly string[]) =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
}

const escaped = (text: string) => text.replace(/[\\"\n]/g, sign => (sign === '\n' ? '\\n' : `\\${sign}`))
