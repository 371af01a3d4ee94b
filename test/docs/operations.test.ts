// engines: embedded; process: shared
/** Alerts, runbook and dashboard of docs/guides/deploy, and the guide's table of figures: held to what `/metrics` has. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parser } from '@prometheus-io/lezer-promql'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { inFolder } from '../store/folder.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { promtoolTakes, withPromtool } from '../support/promtool.ts'
import { ruleProblems } from '../support/rule-problems.ts'
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

type Series = Readonly<Record<string, string>>
const each = (name: string, raise: string, calm: string) => ({ raise: { [name]: raise }, calm: { [name]: calm } })
const bucketsOf = (name: string, values: Series) =>
  Object.fromEntries(Object.entries(values).map(([le, value]) => [`${name}_bucket{le="${le}"}`, value]))

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

/** For each alert series that raise it, as `name{labels}` with what each minute adds: `0+1x60`; and those that do not. */
const RAISED: Readonly<Record<string, { raise: Series; calm: Series }>> = {
  MarketplaceDown: { raise: { 'up{job="marketplace"}': '0x200' }, calm: { 'up{job="marketplace"}': '1x200' } },
  MarketplaceRestarts: {
    raise: { 'process_start_time_seconds{job="marketplace"}': '0+1x200' },
    calm: { 'process_start_time_seconds{job="marketplace"}': '5x200' },
  },
  MarketplaceLedgerOff: {
    raise: { 'marketplace_ledger_cents{kind="held"}': '5x200', 'marketplace_ledger_cents{kind="world"}': '-4x200' },
    calm: { 'marketplace_ledger_cents{kind="held"}': '5x200', 'marketplace_ledger_cents{kind="world"}': '-5x200' },
  },
  MarketplaceErrors: each('marketplace_http_requests_total{status="500"}', '0+2x200', '0+0.2x200'),
  MarketplaceDatabaseFails: each('marketplace_database_failures_total{error="LostError"}', '0+1x200', '7x200'),
  MarketplaceConnectionsUsedUp: {
    raise: {
      'marketplace_database_connections{state="in_use"}': '10x200',
      marketplace_database_connections_limit: '10x200',
      marketplace_database_waiting: '3x200',
    },
    calm: {
      'marketplace_database_connections{state="in_use"}': '10x200',
      marketplace_database_connections_limit: '10x200',
      marketplace_database_waiting: '0x200',
    },
  },
  MarketplaceCommitsSlow: {
    raise: bucketsOf('marketplace_database_commit_seconds', { 0.5: '0+1x200', 1: '0+60x200', '+Inf': '0+60x200' }),
    calm: bucketsOf('marketplace_database_commit_seconds', { 0.5: '0+60x200', 1: '0+60x200', '+Inf': '0+60x200' }),
  },
  MarketplaceRunsAgain: each('marketplace_database_retries_total', '0+90x200', '0+30x200'),
  MarketplaceDatabaseNearlyFull: {
    raise: { marketplace_database_bytes: '81x200', marketplace_database_limit_bytes: '100x200' },
    calm: { marketplace_database_bytes: '79x200', marketplace_database_limit_bytes: '100x200' },
  },
  MarketplaceFilesNearlyFull: {
    raise: { marketplace_file_bytes: '81x200', marketplace_file_limit_bytes: '100x200' },
    calm: { marketplace_file_bytes: '79x200', marketplace_file_limit_bytes: '100x200' },
  },
  MarketplaceNoSnapshots: {
    raise: { marketplace_journal_bytes: '70000000x200', marketplace_snapshot_bytes: '30000000x200' },
    calm: { marketplace_journal_bytes: '70000000x200', marketplace_snapshot_bytes: '40000000x200' },
  },
  MarketplaceThreadFull: each('marketplace_event_loop_lag_seconds{at="p99"}', '0.2x200', '0.05x200'),
  MarketplaceWebhooksBehind: each('marketplace_outbox_events{state="pending"}', '1001x200', '1000x200'),
  MarketplaceWebhooksFail: {
    raise: {
      'marketplace_webhook_attempts_total{outcome="retry"}': '0+6x200',
      'marketplace_webhook_attempts_total{outcome="delivered"}': '0+5x200',
    },
    calm: {
      'marketplace_webhook_attempts_total{outcome="retry"}': '0+5x200',
      'marketplace_webhook_attempts_total{outcome="delivered"}': '0+6x200',
    },
  },
  MarketplaceMailsWait: each('marketplace_mails_waiting', '11x200', '10x200'),
  MarketplaceDecisionsWait: each('marketplace_queue_oldest_seconds{queue="disputes"}', '172801x200', '172800x200'),
  MarketplaceRetentionLate: each('marketplace_retention_overdue_seconds{kept="keys"}', '3601x200', '3600x200'),
  MarketplacePasswordsGuessed: each('marketplace_sign_ins_total{outcome="wrong_password"}', '0+30x200', '0+10x200'),
  MarketplaceTwoVersions: {
    raise: { 'marketplace_build_info{version="1"}': '1x200', 'marketplace_build_info{version="2"}': '1x200' },
    calm: {
      'marketplace_build_info{version="1",job="a"}': '1x200',
      'marketplace_build_info{version="1",job="b"}': '1x200',
    },
  },
}

const alertsFile = fileURLToPath(new URL('../../docs/guides/deploy/alerts.yml', import.meta.url))

/** As `promtool test rules` takes it: two hours of the series of all alerts, and what is firing then. */
const tried = (what: 'raise' | 'calm') => ({
  name: what,
  interval: '1m',
  input_series: Object.values(RAISED).flatMap(given =>
    Object.entries(given[what]).map(([series, values]) => ({ series, values })),
  ),
  promql_expr_test: Object.keys(RAISED).map(alert => ({
    expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
    eval_time: '2h',
    exp_samples: [{ labels: '{}', value: what === 'raise' ? 1 : 0 }],
  })),
})

test('the alerts are a file of rules as Prometheus wants it, and each has series that raise it', () => {
  assert.equal(ruleProblems(read('deploy/alerts.yml')), [])
  sameNames(
    Object.keys(RAISED),
    rules.map(({ alert }) => alert),
  )
  const wrong: Readonly<Record<string, RegExp>> = {
    'alert: A\nexpr: up == 0\nfor: 1 minute': /for is no duration/,
    'alert: A\nexpr: up == 0\nfro: 1m': /no field is called fro/,
    'alert: A b\nexpr: up == 0': /no name that a label may have/,
    'alert: A\nexpr: ""': /no expression/,
    'alert: A\nexpr: up\nlabels: { a-b: c }': /a-b is no name of a label/,
    'alert: A\nexpr: up\nlabels: { a: 1 }': /a is no text/,
    'alert: A\nexpr: up\nannotations: { a: "{{ $labels.b | bold }}" }': /no such value/,
    'alert: A\nexpr: up\nannotations: { a: "{{ $value" }': /does not end/,
    'alert: A\nexpr: rate(up) > 1': /rate is given no range/,
    'alert: A\nexpr: sum(up[5m]) > 1': /a range that no function takes/,
  }
  const file = (rule: string) => `groups:\n  - name: g\n    rules:\n      - ${rule.replaceAll('\n', '\n        ')}\n`
  for (const [rule, words] of Object.entries(wrong)) assert.match(ruleProblems(file(rule)).join('\n'), words, rule)
  assert.equal(ruleProblems(file('alert: A\nexpr: rate(up[5m]) > 1\nfor: 1h30m')), [])
  const one = 'alert: A\nexpr: up'
  assert.match(ruleProblems(file(one) + file(one).split('\n').slice(3).join('\n')).join(), /its name is there twice/)
})

withPromtool(
  'promtool takes the alerts, and each is raised by what it is for and by nothing less',
  inFolder(async file => {
    promtoolTakes(['check', 'rules', alertsFile])
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files: [alertsFile], tests: [tried('raise'), tried('calm')] }))
    promtoolTakes(['test', 'rules', file])
  }),
)

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
