/**
 * What `promtool check metrics` would say of a text: whether it is in the exposition format 0.0.4, and the rules of promlint
 * for names, help, types and labels. promtool itself is no package that a test could bring: see promtool.ts.
 */

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
const VALUE = '[-+]?(?:\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?|Inf|NaN)'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)?\\})? (${VALUE})$`)
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) ?(.*)$`)
const TYPES = /^(?:counter|gauge|histogram|summary|untyped)$/

interface Sample {
  name: string
  labels: ReadonlyMap<string, string>
  value: number
}

interface Family {
  name: string
  help: string
  type: string
  samples: Sample[]
}

/** Returns each problem in a sentence; none if it is as it should be. */
export function promProblems(text: string): string[] {
  const problems: string[] = []
  if (!text.endsWith('\n')) problems.push('The last line has no line end.')
  const families = parsed(text, problems)
  return [...problems, ...families.flatMap(problemsOf)]
}

function parsed(text: string, problems: string[]): Family[] {
  const families = new Map<string, Family>()
  const series = new Set<string>()
  let current: Family | undefined
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, kind, name = '', rest = ''] = COMMENT.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) problems.push(`${name} is told of twice.`)
      current = { name, help: rest, type: 'untyped', samples: [] }
      families.set(name, current)
    } else if (kind === 'TYPE') {
      if (current?.name !== name || !TYPES.test(rest)) problems.push(`${line}: a TYPE without its HELP, or none.`)
      else current.type = rest
    } else addSample(line, { current, series, problems })
  }
  return [...families.values()]
}

interface Around {
  current: Family | undefined
  /** Names with labels. */
  series: Set<string>
  problems: string[]
}

function addSample(line: string, { current, series, problems }: Around): void {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
  if (name === undefined) return void problems.push(`${line}: not in the format.`)
  const sample = { name, labels: labelsOf(labels), value: Number(value) }
  const identity = JSON.stringify([name, ...[...sample.labels].map(pair => pair.join('=')).toSorted()])
  if (series.has(identity)) problems.push(`${line}: this series has a value twice.`)
  series.add(identity)
  if (current && suffixesOf(current.type).some(suffix => current.name + suffix === name)) current.samples.push(sample)
  else problems.push(`${line}: not of the family before it.`)
}

const suffixesOf = (type: string) =>
  type === 'histogram' ? ['_bucket', '_sum', '_count'] : type === 'summary' ? ['', '_sum', '_count'] : ['']

const labelsOf = (text: string) =>
  new Map([...text.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name!, value!]))

/** Base units of promlint, and what must not stand for them. */
const BASE_UNITS = [
  'amperes',
  'bytes',
  'celsius',
  'grams',
  'joules',
  'kelvin',
  'meters',
  'metres',
  'moles',
  'seconds',
  'volts',
]
const PREFIX = /^(?:pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mebi|mibi|giga|gibi|tera|tebi|peta|pebi)/
const OTHER_UNITS = /^(?:minutes|hours|days|weeks|kelvins|fahrenheits|inches|yards|miles|bits|calories|pounds|ounces)$/
const ABBREVIATED = /(?:^|_)(?:s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)$/

function problemsOf({ name, help, type, samples }: Family): string[] {
  const says = (wrong: boolean, words: string) => (wrong ? [`${name}: ${words}`] : [])
  const labels = new Set(samples.flatMap(sample => [...sample.labels.keys()]))
  const words = name.split('_')
  const isBaseUnit = (word: string) =>
    !OTHER_UNITS.test(word) && !(PREFIX.test(word) && BASE_UNITS.includes(word.replace(PREFIX, '')))
  return [
    ...says(help.trim() === '', 'no help.'),
    ...says(
      words.some(word => !isBaseUnit(word)),
      'not in a base unit.',
    ),
    ...says(ABBREVIATED.test(name), 'an abbreviated unit.'),
    ...says(type === 'counter' && !name.endsWith('_total'), 'a counter whose name does not end in _total.'),
    ...says(type !== 'counter' && name.endsWith('_total'), 'the name ends in _total, and it is no counter.'),
    ...says(type !== 'histogram' && name.endsWith('_bucket'), 'the name ends in _bucket, and it is no histogram.'),
    ...says(!/^(?:histogram|summary)$/.test(type) && /_(?:count|sum)$/.test(name), 'the name ends in _count or _sum.'),
    ...says(type !== 'histogram' && labels.has('le'), 'the label le, and it is no histogram.'),
    ...says(type !== 'summary' && labels.has('quantile'), 'the label quantile, and it is no summary.'),
    ...says(
      words.some(word => /^(?:counter|gauge|histogram|summary)$/.test(word)),
      'the name has a type in it.',
    ),
    ...says(name.includes(':'), 'a colon, which is for recording rules.'),
    ...says(
      [name, ...labels].some(word => /[a-z][A-Z]/.test(word)),
      'not in snake_case.',
    ),
    ...(type === 'histogram' ? bucketProblems(name, samples) : []),
  ]
}

/** Each series has its buckets in order, the last for all, and as many as it counts. */
function bucketProblems(name: string, samples: readonly Sample[]): string[] {
  const series = new Map<string, { last: number; count?: number; sum?: number; inf?: number; falls: boolean }>()
  for (const { name: full, labels, value } of samples) {
    const key = [...labels].filter(([label]) => label !== 'le').join(' ')
    const known = series.get(key) ?? { last: 0, falls: false }
    series.set(key, known)
    if (full.endsWith('_sum')) known.sum = value
    else if (full.endsWith('_count')) known.count = value
    else {
      if (value < known.last) known.falls = true
      known.last = value
      if (labels.get('le') === '+Inf') known.inf = value
    }
  }
  return [...series].flatMap(([key, { count, sum, inf, falls }]) => [
    ...(inf === undefined || inf !== count ? [`${name} ${key}: no bucket +Inf that has as many as the count.`] : []),
    ...(sum === undefined ? [`${name} ${key}: no sum.`] : []),
    ...(falls ? [`${name} ${key}: a bucket has fewer than the one before.`] : []),
  ])
}
