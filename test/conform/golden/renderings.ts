/** What the judge prints, of runs that are made up: each form that a report, the list and an explanation have on a terminal, and in files. */
import { explain, list } from '../../../src/cli/conformance/explain.ts'
import { showReport } from '../../../src/cli/conformance/terminal-report.ts'
import { loadColours } from '../../../src/cli/output/colours.ts'
import { createUi, type Ui } from '../../../src/cli/output/ui.ts'
import { contentOf, type Happening, History, type Recorded } from '../../../src/conform/history/history.ts'
import type { Baseline } from '../../../src/conform/judging/baseline.ts'
import {
  behind,
  broken,
  type Check,
  type Finding,
  holds,
  inconclusive,
  type Level,
  untested,
} from '../../../src/conform/judging/check.ts'
import { ENDED } from '../../../src/conform/judging/deaths.ts'
import { type Report, reportOf } from '../../../src/conform/judging/report.ts'
import { againLine, eventLine } from '../../../src/conform/reports/findings.ts'
import { besides, reports as forms } from '../../../src/conform/reports/index.ts'
import { begin, historyOf, played, reply, step, task, webhook } from '../made-up.ts'

await loadColours(true)

const refused = contentOf(
  Buffer.from('{"success":false,"error":"The task is completed: nothing can be delivered any more."}'),
)
const sent = { url: 'http://localhost:1/webhook', headers: [], body: contentOf(Buffer.from('{}')) }
const happenings: Happening[] = [
  {
    ...{ kind: 'begin', schema: 'conformance-history/1', version: '1.0.0', seed: 20_261_123 },
    agent: { url: sent.url, command: "node agent.js --name 'A translator'" },
    ...{ patience: { answer: 1, work: 1 }, declared: ['it takes no revisions', 'a person does the work'] },
  },
  {
    ...{ kind: 'webhook', label: 'a', taskId: 'task_1', event: 'task.revision_requested', deliveryId: 'd', attempt: 1 },
    ...{ change: 'signed with the secret of another agent', genuine: true, method: 'POST', ...sent },
    ...{ answer: null, error: 'the connection was cut after 17 bytes of the answer had come', ms: 3 },
  },
  {
    ...{ kind: 'callback', label: 'a', taskId: 'task_1', action: 'deliver', method: 'POST', path: '/x?y' },
    ...{ headers: [], body: sent.body, signature: 'valid', answer: { status: 400, headers: [], body: refused } },
    ...{ fault: null, ms: 1 },
  },
  { kind: 'request', method: 'GET', path: `http://example.org/${'a-long-path/'.repeat(12)}`, status: null },
  played('play', { ms: 3 }),
  { kind: 'end', interrupted: false, ms: 12_345 },
]
const history = historyOf(happenings)

/** The agent has ended of the first webhook. */
const endedHistory = new History(
  history.events.toSpliced(2, 0, {
    ...{ kind: 'process', what: 'ended', text: 'with exit code 1', ms: 0, seq: 7, lane: null, at: 0 },
    realAt: history.begin.realAt + 3_210,
    death: {
      ...{ code: 1, signal: null },
      lastWords: [
        'file:///app/agent.mjs:17',
        `  if (!timingSafeEqual(given, expected)) return response.writeHead(401).end() // ${'as it was '.repeat(6)}`,
        '       ^',
        '',
        'RangeError \u001b[31m [ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH]: Input buffers must have the same byte length',
        '    at Server.<anonymous> (file:///app/agent.mjs:17:8)',
        '    at Server.emit (node:events:524:28)',
        'Node.js v20.20.2',
      ],
    },
  }),
)

/** Its time was over. The agent answers late. */
const cutHistory = new History(
  history.events.flatMap((one): Recorded[] => {
    if (one.kind === 'end') return [{ ...one, interrupted: true, limitMs: 2_700_000 }]
    return one.kind === 'webhook' ? [20_012, 20_034].map((ms, at) => ({ ...one, ms, seq: one.seq + 90 * at })) : [one]
  }),
)

const check = (id: string, level: Level, title: string, finding: Finding): Check => ({
  ...{ id, level, title, after: id === 'sig.short' ? [] : ['sig.short'] },
  law: { source: 'I-signature', quote: 'HMAC-SHA256, keyed with the webhook secret, over the timestamp header' },
  why: 'Whoever learns the address of the agent can give it orders, and then it works for nothing and for nobody.',
  fix: 'Compute the digest over the bytes as they arrived, before anything parses them.',
  scenario: 'play',
  judge: () => finding,
})

const LONG_ID = 'order.a-revision-before-its-delivery'
const right = [
  check('sig.short', 'must', 'is right', holds),
  check('dup.retry', 'must', 'does its work once, however often it hears of it', holds),
  check('rel.memory', 'may', 'keeps its memory', { holds: true, note: '61 MiB at first, 87 MiB after the work' }),
]
const wrong = [
  ...right,
  check(
    LONG_ID,
    'must',
    'refuses what it can’t know, and hears of it again as if nothing had ever been said about it before',
    broken('delivered before it was asked, and was told so', { seq: 2 }, { seq: 3 }, { seq: 4 }),
  ),
  check(
    'safe.words',
    'should',
    'says what it does',
    broken(`said 漢字かな交じり文 \u001b[31m ${'z'.repeat(150)}`, { seq: 3 }),
  ),
  { ...check('order.revision', 'must', 'delivers it', holds), after: [LONG_ID] },
  { ...check('safe.files', 'should', 'says what it sends', holds), after: ['safe.words'] },
]
const unsure = [
  ...right,
  check('rel.killed', 'must', 'goes on', inconclusive('the fault lost-answer met nothing')),
  check('rel.restarted', 'must', 'goes on', inconclusive('the fault lost-answer met nothing')),
  check(LONG_ID, 'must', 'is right', untested('the agent rejected every task: declare a sample that it accepts')),
]

const neverTried = check('http.chunked', 'must', 'is right', behind(ENDED, 'the agent had ended with exit code 1'))

const unplayed = ['http.chunked', 'http.expect', 'cb.files'].map(
  (id): Check => ({ ...check(id, 'must', 'is right', holds), scenario: 'another play', after: [] }),
)

const reported = (
  checks: readonly Check[],
  baseline: Baseline = {},
  requirements: readonly string[] | null = null,
  told = history,
) =>
  reportOf(checks, told, {
    ...{ baseline, known: checks.map(({ id }) => id) },
    requirements: requirements && { name: '2026-12', ids: requirements },
  })

const reports: Readonly<Record<string, Report>> = {
  green: reported(right),
  failing: reported(wrong, {}, [LONG_ID]),
  inconclusive: reported(unsure),
  ended: reported([...unsure, neverTried], {}, null, endedHistory),
  'time-over': reported([...wrong, ...unplayed], {}, null, cutHistory),
  baseline: reported(wrong, {
    [LONG_ID]: {
      verdict: 'fail',
      why: 'the queue of the old box forgets, and it goes away with the new one in spring',
    },
    'sig.short': { verdict: 'fail', why: 'old' },
    'dup.gone': { verdict: 'warn', why: 'old' },
  }),
}

const histories: Readonly<Record<string, History>> = { ended: endedHistory, 'time-over': cutHistory }

const shown: Readonly<Record<string, (ui: Ui) => void>> = {
  ...Object.fromEntries(
    Object.entries(reports).map(([name, report]) => [
      name,
      (ui: Ui) =>
        showReport(ui, { report, history: histories[name] ?? history }, id => againLine(report, id, 'marketplace')),
    ]),
  ),
  list: ui => void list(answering(ui), wrong),
  explain: ui => void explain(answering(ui), wrong[3]!),
}

/** For people. */
export const answering = (out: Ui) => ({
  out,
  answer(_: unknown, show: () => void) {
    show()
    return 0
  },
})

/** What is written where: a terminal of so many columns, or none. */
export function printed(show: (ui: Ui) => void, columns: number | null, inColour = false): string {
  let text = ''
  const write = (more: string) => {
    text += more
  }
  const { npm_command: script } = process.env
  try {
    // Lines to type begin with `npx` in a script of npm.
    delete process.env.npm_command
    show(createUi(columns === null ? { write } : { isTTY: true, columns, write }, inColour))
  } finally {
    if (script !== undefined) process.env.npm_command = script
  }
  return text
}

/** By the names of the files that keep them. */
export const renderings = (): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...Object.entries(shown).flatMap(([name, show]) => [
      [`${name}.80.txt`, printed(show, 80)],
      [`${name}.120.txt`, printed(show, 120)],
      [`${name}.colour.txt`, printed(show, 80, true)],
      [`${name}.pipe.txt`, printed(show, null)],
    ]),
    ...Object.entries(reports).flatMap(([name, report]) =>
      Object.entries(written(report, histories[name] ?? history)).map(([form, text]) => [`${name}.${form}`, text]),
    ),
    [
      'events.txt',
      historyOf(ofEachKind)
        .events.map(one => `${eventLine(one)}\n`)
        .join(''),
    ],
  ])

/** The forms that are files, by what their names end with. */
function written(report: Report, about: History): Readonly<Record<string, string>> {
  const { badge, ...rest } = forms
  const texts = Object.entries(rest).map(([form, write]) => [`${form}.txt`, write(report, about)])
  const { github: annotations } = besides
  return { 'badge.svg': badge(report, about), 'lines.txt': annotations!(report, about), ...Object.fromEntries(texts) }
}

const cutOff = { fault: { name: 'answer cut', status: null } }
/** What may show a fault: each kind, and those that are told in several ways. */
const ofEachKind: readonly Happening[] = [
  begin,
  task('a'),
  webhook('a', 200),
  webhook('a', null, { event: null, method: 'GET', change: 'a GET', error: 'reset: the connection was closed' }),
  reply('a'),
  reply('a', { action: 'deliver', ...cutOff }),
  reply('a', { action: 'accept', answer: null, fault: { name: 'unavailable', status: 503 } }),
  reply('a', { action: 'reject', answer: null }),
  reply('a', { answer: { status: 400, headers: [], body: contentOf(Buffer.from('no '.repeat(60))) } }),
  { kind: 'request', method: 'GET', path: '/api/tasks', status: 200 },
  { kind: 'request', method: 'GET', path: 'http://example.org/', status: null },
  step('a', 'accept', 'in_progress'),
  { kind: 'money', taskId: 'task of a', move: 'hold', amount: 500, from: 'available:usr_1', to: 'held:task_1' },
  { kind: 'observation', label: 'rel.memory', value: 61_000_000 },
  { kind: 'unused', label: 'a', fault: 'lost answer' },
  { kind: 'process', what: 'ended', text: 'with exit code 1', ms: 0 },
  played('play'),
  played('another play', { outcome: 'skipped', why: 'the agent hires nobody' }),
  { kind: 'stall', run: 40, agent: 310, ms: 350 },
  { kind: 'quiet', ms: 500 },
  {
    ...{ kind: 'purchases', limit: 2_800, spent: 700, held: 1_400 },
    tasks: [{ id: 'task_1', label: 'first-task', price: 700, status: 'completed' }],
  },
  { kind: 'end', interrupted: false, ms: 12_345 },
]
