// engines: embedded; process: shared
/** Alerts, runbook and dashboard of docs/guides/deploy, and the guide's table of figures: held to what `/metrics` has. */
import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { openTestMarketplace } from '../support/marketplace.ts'
import { sameNames } from '../support/same-names.ts'
import { anchorsOf } from './links.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/guides/${name}`, import.meta.url), 'utf8')

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string }
}
const rules: Rule[] = parse(read('deploy/alerts.yml')).groups.flatMap((group: { rules: Rule[] }) => group.rules)

interface Panel {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string; refId: string; legendFormat: string }[]
}
const dashboard: { panels: Panel[]; templating: { list: { name: string }[] } } = JSON.parse(
  read('deploy/dashboard.json'),
)

const NAMES = /\b(?:marketplace|process)_\w+/g
const metricsIn = (text: string) => new Set([...text.matchAll(NAMES)].map(([name]) => name))
/** The metrics that an expression asks for, by the grammar of Prometheus. Fails if it is no PromQL. */
function askedBy(expr: string): Set<string> {
  const text = expr.replaceAll('$__rate_interval', '5m')
  const names = new Set<string>()
  parser.parse(text).iterate({
    enter({ type, name, from, to, node }) {
      assert.not(type.isError, `${text}: not PromQL at ${from}`)
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') names.add(text.slice(from, to))
    },
  })
  return names
}

/** Series that `/metrics` makes of a histogram. */
const familyOf = (name: string, types: ReadonlyMap<string, string>) => {
  const family = name.replace(/_(?:bucket|sum|count)$/, '')
  return types.get(family) === 'histogram' ? family : name
}

async function familiesNow(): Promise<Map<string, string>> {
  const marketplace = await openTestMarketplace()
  const text = await (await fetch(`${marketplace.url}/metrics`)).text()
  await marketplace.close()
  return new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]))
}

test('the guide has a row for each metric, and for no other', async () => {
  const families = await familiesNow()
  const guide = read('deploy.md')
  const rows = guide.slice(guide.indexOf('| Watch |'), guide.indexOf('One process has the database'))
  const told = [...rows.matchAll(/^\| (.*?) \| /gm)].flatMap(([, cell]) => [...metricsIn(cell!)])
  sameNames(new Set(told), families.keys())
})

test('each alert asks for metrics that exist, as what they are, and has its section of the runbook', async () => {
  const families = await familiesNow()
  for (const { alert, expr, labels, annotations } of rules) {
    for (const name of askedBy(expr))
      if (name !== 'up') assert.ok(families.has(familyOf(name, families)), `${alert}: ${name}`)
    for (const [, name] of expr.matchAll(/(?:rate|increase)\((\w+)/g))
      assert.match(families.get(familyOf(name!, families))!, /counter|histogram/, `${alert}: ${name}`)
    assert.match(labels.severity, /^(?:page|ticket)$/)
    assert.ok(annotations.summary)
  }
  const page = read('deploy/runbook.md')
  const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name!)
  assert.equal(
    sections,
    rules.map(({ alert }) => alert),
  )
  assert.is(new Set(anchorsOf(page)).size, sections.length + 1)
})

test('the dashboard shows each metric, and panels that do not lie upon each other', async () => {
  const families = await familiesNow()
  const asked = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => [...askedBy(expr)]))
  sameNames(new Set(asked.map(name => familyOf(name, families))), families.keys())
  for (const [, name] of JSON.stringify(dashboard.templating).matchAll(/label_values\((\w+)/g))
    assert.ok(families.has(name!), name)
  const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)
  assert.is(new Set(places).size, places.length)
  assert.is(new Set(dashboard.panels.map(({ id }) => id)).size, places.length)
  const variables = dashboard.templating.list.map(({ name }) => name)
  const used = JSON.stringify(dashboard.panels).matchAll(/\$\{?([a-z]+)\b/g)
  sameNames(new Set([...used].map(([, name]) => name!)), variables)
})

test.run()
