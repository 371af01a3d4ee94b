/** One page that needs nothing but itself: no script, no request. What an agent has sent is text in it, and nothing else. */

import { createHash } from 'node:crypto'
import { type Html, html, raw } from '../../shared/html.ts'
import { bytesOf, type Content, type History, type Recorded } from '../history/history.ts'
import { ENDED } from '../judging/deaths.ts'
import { type Asked, isBroken, type Report, type ReportedCheck } from '../judging/report.ts'
import { areas } from './areas.ts'
import { againLine, agentInWords, areaOf, eventLine, inOrder, seen, totals } from './findings.ts'
import { deathInWords, lastWordsOf, timeOverIn } from './run-tests.ts'
import { type InWords, verdictOf } from './verdict.ts'

export function htmlPage(report: Report, history: History, asked?: Asked): string {
  const { outcome, word, sentence } = verdictOf(report, asked)
  const { checks, startedAt, seed, version } = report
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${raw(hashOf(style))}'">
<title>Conformance: ${word}, ${totals(report)}</title>
<style>${raw(style)}</style>
</head>
<body>
<header>
<h1>Conformance</h1>
<p class="totals ${classes[outcome]}">${word}: ${linked(sentence, report)}</p>
<p>${totals(report)}</p>
<p>${agentInWords(report)} · ${startedAt.slice(0, 19).replace('T', ' ')} UTC · seed ${seed} · ${version}</p>
${report.declared.map(words => html`<p>Declared: ${words}.</p>\n`)}
${report.interrupted && html`<p class="fail">${timeOverIn(report, history) ?? 'The run was interrupted'}.</p>`}
${report.deaths.map(
  (
    death,
    at,
  ) => html`<p class="fail"${at === 0 && raw(` id="${ENDED}"`)}>It has not stayed up: ${deathInWords(death, history)}.</p>
<pre>${lastWordsOf(death).join('\n')}</pre>
`,
)}
</header>
<main>
${causeList(report)}
${areaTable(checks)}
${groups(report, history)}
</main>
</body>
</html>
`
  return page.text
}

const classes: Readonly<Record<InWords['outcome'], string>> = { good: 'pass', bad: 'fail', unsure: 'inconclusive' }

/** The check that it names is one click away. */
function linked(sentence: string, { checks }: Report): Html {
  const named = checks.find(({ id }) => sentence.includes(` ${id} `))
  if (!named) return html`${sentence}`
  const [before, after] = sentence.split(` ${named.id} `)
  return html`${before} <a href="#${named.id}">${named.id}</a> ${after}`
}

const linkTo = (id: string, { checks, deaths }: Report): Html =>
  checks.some(one => one.id === id) || (id === ENDED && deaths.length > 0)
    ? html`<a href="#${id}">${id}</a>`
    : html`${id}`

function causeList(report: Report): Html | null {
  const { causes } = report
  if (causes.length === 0) return null
  return html`<h2>Mend in this order</h2>
<ol>${causes.map(
    ({ id, behind }) => html`
<li>${linkTo(id, report)}${
      behind.length > 0 &&
      html`<span class="behind">. These go with it: ${behind.map((one, at) => html`${at > 0 && ', '}${linkTo(one, report)}`)}</span>`
    }</li>`,
  )}
</ol>`
}

/** Our own texts mark code as Markdown does. */
const marked = (text: string): Html[] =>
  text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`

const columns = ['pass', 'fail', 'warn', 'behind', 'untested', 'inconclusive'] as const

function areaTable(checks: readonly ReportedCheck[]): Html {
  const names = [...new Set(checks.map(areaOf))]
  const count = (area: string, verdict: string) =>
    checks.filter(check => areaOf(check) === area && check.verdict === verdict).length
  return html`<table>
<caption>Verdicts by area</caption>
<thead><tr><th scope="col">area</th>${columns.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${names.map(
    area => html`
<tr><th scope="row"><a href="#${checks.find(check => areaOf(check) === area)!.id}">${area}</a>${
      areas[area] && html` <span class="about">${areas[area]}</span>`
    }</th>${columns.map(verdict => html`<td>${count(area, verdict) || ''}</td>`)}</tr>`,
  )}
</tbody>
</table>`
}

const headings: Readonly<Record<(typeof columns)[number], string>> = {
  fail: 'Broken: what an agent must do',
  warn: 'Broken: what an agent should do',
  inconclusive: 'Nothing could be told',
  behind: 'Not judged because of a cause',
  untested: 'Untested',
  pass: 'As it should be',
}

const groups = (report: Report, history: History): Html[] =>
  (['fail', 'warn', 'behind', 'inconclusive', 'untested', 'pass'] as const).flatMap(verdict => {
    const those = inOrder(report).filter(check => check.verdict === verdict)
    if (those.length === 0) return []
    return html`<h2 class="${verdict}">${headings[verdict]} (${those.length})</h2>
${those.map(check => entry(check, report, history))}`
  })

function entry(check: ReportedCheck, report: Report, history: History): Html {
  const { id, title, level, verdict, law, why, fix, behind } = check
  return html`<details id="${id}"${isBroken(check) && raw(' open')}>
<summary><code>${id}</code> <span class="level">${level}</span> ${marked(title)}</summary>
${seen(check) !== '' && html`<p class="${verdict}">${seen(check)}${behind !== null && html` (${linkTo(behind, report)})`}</p>`}
<blockquote>${marked(law.quote)} <cite>${law.source}</cite></blockquote>
<p>${marked(why)}</p>
<p><strong>Cure:</strong> ${marked(fix)}</p>
${timeline(check, history)}
<p>Again: <code>${againLine(report, id)}</code></p>
</details>
`
}

/** What is shown of a body: more is in the history. */
const MOST_BODY = 2_000
const MOST_EVENTS = 30

/** What is known of the tasks that show it, in order. */
function timeline({ evidence }: ReportedCheck, { events }: History): Html | null {
  const shown = events.filter(({ seq }) => evidence.includes(seq))
  if (shown.length === 0) return null
  const tasks = new Set(shown.flatMap(event => ('taskId' in event && event.taskId ? [event.taskId] : [])))
  const about = events.filter(
    event => evidence.includes(event.seq) || ('taskId' in event && tasks.has(event.taskId ?? '')),
  )
  return html`<ol class="timeline">
${about.slice(0, MOST_EVENTS).map(
  event => html`<li${evidence.includes(event.seq) && raw(' class="evidence"')}>${moment(event)}</li>
`,
)}
</ol>`
}

function moment(event: Recorded): Html {
  const time = html`<time>${new Date(event.realAt).toISOString().slice(11, 23)}</time> ${otherClock(event)}`
  if (event.kind !== 'webhook' && event.kind !== 'callback') return html`${time}${eventLine(event)}`
  return html`${time}${eventLine(event)}
<details><summary>bytes</summary>
<pre>${event.method} ${'url' in event ? event.url : event.path}
${event.headers.map(([name, value]) => `${name}: ${value}\n`)}
${shown(event.body)}</pre>
${
  event.answer &&
  html`<pre>${event.answer.status}
${event.answer.headers.map(([name, value]) => `${name}: ${value}\n`)}
${shown(event.answer.body)}</pre>`
}
</details>`
}

/** Where the clock of the marketplace was moved. */
function otherClock({ at, realAt }: Recorded): string {
  const hours = Math.round((at - realAt) / 3_600_000)
  return hours === 0 ? '' : `(+${hours} h) `
}

function shown(content: Content): string {
  const text = content.text ?? bytesOf(content).toString('hex')
  const more = text.length > MOST_BODY ? `… (${content.size} bytes)` : ''
  return text.slice(0, MOST_BODY) + more
}

/** How the page looks: by day, by night and on paper. */
const style = `
:root { color-scheme: light dark; --line: #d0d4da; --soft: #f4f5f7; --ink: #1c1f24; --faint: #565c66; --red: #a3160f; --amber: #7a5300; --green: #1d6b2b; --paper: #fff }
@media (prefers-color-scheme: dark) { :root { --line: #3b4048; --soft: #23272e; --ink: #e6e8eb; --faint: #a6adb8; --red: #ff9a92; --amber: #f2c063; --green: #86d795; --paper: #16191d } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
h1 { margin: 0; font-size: 1.5rem } h2 { margin: 2rem 0 .5rem; font-size: 1.15rem } p, summary, blockquote, th { overflow-wrap: anywhere } a { color: inherit }
header p { margin: .15rem 0; color: var(--faint) } .totals { font-size: 1.15rem; font-weight: 600 }
table { margin-top: 1.5rem; border-collapse: collapse; font-variant-numeric: tabular-nums } caption { text-align: left; color: var(--faint) }
th, td { padding: .2rem .8rem .2rem 0; text-align: right; border-bottom: 1px solid var(--line) } th[scope=row], th:first-child { text-align: left } .about { font-weight: 400; color: var(--faint) }
@media (max-width: 30rem) { body { padding: .75rem } table { font-size: .75rem } th, td { padding-right: .3rem } .about { display: block } }
main > details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem }
summary { cursor: pointer } .level { color: var(--faint); font-size: .85em }
blockquote { margin: .6rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--faint) } cite { font-style: normal; font-size: .85em }
code, pre, time { font-family: ui-monospace, monospace; font-size: .88em } pre { overflow-x: auto; padding: .6rem; background: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere }
.timeline { padding-left: 0; list-style: none; font-size: .92em } .timeline li { padding: .1rem .5rem; border-left: 3px solid transparent; overflow-wrap: anywhere } .timeline .evidence { border-left-color: var(--red) } time { color: var(--faint) }
.fail, header .fail { color: var(--red) } .warn, .inconclusive, header .inconclusive { color: var(--amber) } .behind, h2.behind { color: var(--faint) } h2.pass, header .pass { color: var(--green) }
@media print { details:not([open]) > *:not(summary) { display: none } }
`
