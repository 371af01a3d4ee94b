/**
 * What `promtool check rules` would say of a file of alerts, as far as the file alone shows it: its fields, durations, names and
 * templates, and what functions are given. Whether an expression is PromQL at all, the grammar says: see operations.test.ts.
 */
import { parse } from 'yaml'

const NAME = /^[a-zA-Z_]\w*$/
const DURATION = /^(?!$)(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?$/
const OF_GROUP = ['name', 'interval', 'query_offset', 'limit', 'labels', 'rules']
const OF_RULE = ['alert', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations']
const TEMPLATE_FUNCTIONS =
  /^(?:humanize(?:1024|Duration|Percentage|Timestamp)?|title|toUpper|toLower|printf|reReplaceAll)$/
/** These take what a metric was for a while; the others of PromQL that occur in alerts take what it is. */
const OF_RANGES = /\b(rate|irate|increase|delta|idelta|deriv|changes|resets|\w+_over_time)\s*\(/g

type Fields = Readonly<Record<string, unknown>>

/** Returns each problem in a sentence; none if it is as it should be. */
export function ruleProblems(text: string): string[] {
  const { groups, ...more } = parse(text, { uniqueKeys: true }) as { groups?: Fields[] }
  const problems = unknown('the file', more, [])
  if (!Array.isArray(groups)) return [...problems, 'the file: no groups.']
  const names = groups.map(({ name }) => String(name))
  const rules = groups.flatMap(({ rules }) => (Array.isArray(rules) ? (rules as Fields[]) : []))
  return [
    ...problems,
    ...twice(names),
    ...twice(rules.map(({ alert }) => String(alert))),
    ...groups.flatMap(group => [
      ...unknown(`the group ${group.name}`, group, OF_GROUP),
      ...(Array.isArray(group.rules) ? [] : [`the group ${group.name}: no rules.`]),
    ]),
    ...rules.flatMap(problemsOf),
  ]
}

const unknown = (what: string, fields: Fields, known: readonly string[]) =>
  Object.keys(fields).flatMap(name => (known.includes(name) ? [] : [`${what}: no field is called ${name}.`]))

const twice = (names: readonly string[]) =>
  names.flatMap((name, i) => (names.indexOf(name) < i ? [`${name}: its name is there twice.`] : []))

function problemsOf(rule: Fields): string[] {
  const {
    alert,
    expr,
    labels = {},
    annotations = {},
  } = rule as { alert: unknown; expr: unknown } & Record<string, object>
  const what = String(alert)
  const says = (wrong: boolean, words: string) => (wrong ? [`${what}: ${words}`] : [])
  const durations = ['for', 'keep_firing_for'].flatMap(name =>
    says(rule[name] !== undefined && !DURATION.test(String(rule[name])), `${name} is no duration.`),
  )
  const texts = [...Object.entries(labels), ...Object.entries(annotations)]
  return [
    ...unknown(what, rule, OF_RULE),
    ...says(typeof alert !== 'string' || !NAME.test(alert), 'no name that a label may have.'),
    ...says(typeof expr !== 'string' || expr.trim() === '', 'no expression.'),
    ...durations,
    ...texts.flatMap(([name, text]) => [
      ...says(!NAME.test(name) || name === '__name__', `${name} is no name of a label.`),
      ...says(typeof text !== 'string', `${name} is no text.`),
      ...templateProblems(String(text)).flatMap(words => says(true, words)),
    ]),
    ...rangeProblems(String(expr)).flatMap(words => says(true, words)),
  ]
}

function templateProblems(text: string): string[] {
  if (/\{\{|\}\}/.test(text.replace(/\{\{[^{}]*\}\}/g, ''))) return [`${text}: a template that does not end.`]
  return [...text.matchAll(/\{\{([^{}]*)\}\}/g)].flatMap(([whole, inner]) => {
    const [value, ...filters] = inner!.split('|').map(part => part.trim())
    const isValue = value === '$value' || /^\$(?:labels|externalLabels)\.\w+$/.test(value!)
    return isValue && filters.every(filter => TEMPLATE_FUNCTIONS.test(filter.split(' ')[0]!))
      ? []
      : [`${whole}: no such value.`]
  })
}

/** Each function of ranges is given one, and nothing else is. */
function rangeProblems(expr: string): string[] {
  const given = [...expr.matchAll(OF_RANGES)].map(({ index, 0: call, 1: name }) => [
    name!,
    argumentAt(expr, index + call.length),
  ])
  const ranges = expr.match(/\[[^\]]*\]/g)?.length ?? 0
  const wrong = given
    .filter(([, text]) => !/\[\d\w*(?::\w*)?\]\s*$/.test(text!))
    .map(([name]) => `${name} is given no range.`)
  return ranges === given.length ? wrong : [...wrong, 'a range that no function takes.']
}

/** What stands in the bracket that opens before `from`. */
function argumentAt(text: string, from: number): string {
  let depth = 1
  let to = from
  for (; to < text.length && depth > 0; to++) {
    if (text[to] === '(') depth++
    if (text[to] === ')') depth--
  }
  return text.slice(from, to - 1)
}
