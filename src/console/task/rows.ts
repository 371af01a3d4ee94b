/**
 * Makes rows of what has happened to a task: one for each happening, with who acted, on whom and with which result; what was said stands with
 * the request that said it. Between them, gaps in which nothing happened, and what the diagnosis says of failures, once.
 */
import type { HappeningOf, TaskHappening } from '../../api/task-history.ts'
import type { IconName } from '../parts/icons.tsx'
import { type Tone, taskStates } from '../parts/states.tsx'
import { count, span, units } from '../parts/words.tsx'

export type Lane = 'buyer' | 'market' | 'agent'
type Kind = TaskHappening['kind']
export type Of<K extends Kind> = HappeningOf<K>
type StateName = keyof typeof taskStates

interface Result {
  readonly tone: Tone | ''
  /** A status or a name, in bold. */
  readonly word: string
  readonly more: string
}

export interface Row {
  readonly id: string
  readonly at: string
  readonly realAt: string | null
  /** Whether its time stands before it, and not with a row above. */
  readonly isTimed: boolean
  /** The state of the task at that moment: the colour of the rail. */
  readonly state: StateName
  readonly of: TaskHappening
  readonly from: Lane
  readonly to: Lane | null
  readonly icon: IconName | 'draft'
  /** `Webhook`, `Buyer`: for who does not see the lanes. */
  readonly who: string
  readonly what: string
  readonly beside: string
  readonly result: Result | null
  readonly took: number | null
  readonly said: readonly { readonly text: string; readonly cut: boolean }[]
  readonly isFailed: boolean
}

export interface Gap {
  readonly gap: string
  readonly state: StateName
  readonly words: string
  readonly more: string
}

export interface Advice {
  readonly advice: NonNullable<Of<'webhook'>['diagnosis']>
  readonly id: string
  readonly at: string
  readonly state: StateName
  /** The row that it is about. */
  readonly about: string
}

export type Line = Row | Gap | Advice

export const isRow = (line: Line): line is Row => 'of' in line

/** From here on, a row that says nothing has time for one that does. */
const REAL_GAP_MS = 10_000
const MARKET_GAP_MS = 3_600_000
/** What a request does is written within so many ms of its beginning: the time stands once. */
const SAME_MS = 25

/** What was said by each action: the happenings that stand with its request. */
const SAID: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  message: ['message', 'request_revision', 'reject'],
  dispute: ['dispute'],
  review: ['review'],
  deliverable: ['deliver'],
  decision: ['resolve_refund', 'resolve_release', 'resolve_split'],
}

const ACTIONS: Readonly<Record<string, string>> = {
  create: 'create a draft',
  update: 'change the draft',
  submit: 'submit',
  cancel: 'cancel',
  accept: 'accept',
  reject: 'reject',
  deliver: 'deliver',
  approve: 'approve',
  request_revision: 'ask for a revision',
  dispute: 'dispute',
  resolve_refund: 'decide: refund',
  resolve_release: 'decide: release',
  resolve_split: 'decide: split',
  message: 'message',
  review: 'review',
}

const LANES = { buyer: 'buyer', agent: 'agent', admin: 'market', marketplace: 'market' } as const
const WHO = { buyer: 'Buyer', agent: 'Builder', admin: 'Administrator', marketplace: 'Marketplace' } as const

type Mutable = { -readonly [Name in keyof Row]: Row[Name] } & { said: { text: string; cut: boolean }[] }

/** The rows of all happenings, in their order. */
export function rowsOf(happenings: readonly TaskHappening[]): Row[] {
  const attempts = attemptsOf(happenings)
  const rows: Mutable[] = []
  let state: StateName = 'draft'
  let since = happenings[0]?.at ?? ''
  for (const of of happenings) {
    if (of.kind === 'transition' && of.from === of.to) continue
    if (of.kind === 'dispute') state = 'disputed'
    if (standsWith(rows, of)) continue
    const row: Mutable = { ...base(of), ...partsOf(of, attempts), state, isTimed: false }
    if (of.kind === 'transition') {
      row.result = { tone: taskStates[of.to][0], word: '', more: afterWords(rows, since, of.at) }
      row.state = of.to
      since = of.at
    }
    if (of.kind === 'decision') row.state = lastStateOf(rows)
    state = row.state
    row.isTimed = hasOwnTime(rows.findLast(({ isTimed }) => isTimed)?.at, of)
    rows.push(row)
  }
  return rows
}

/** How long the state before lasted, and how often webhooks failed in it. */
function afterWords(rows: readonly Row[], since: string, at: string): string {
  const age = Date.parse(at) - Date.parse(since)
  const tries = rows.filter(row => row.isFailed && row.of.kind === 'webhook' && row.at >= since).length
  return [age >= 1 && `after ${short(age)}`, tries > 0 && count(tries, 'failed attempt')].filter(Boolean).join(', ')
}

/** Requests have a time, if it is another than that above; what they do has one only if it came later. */
function hasOwnTime(above: string | undefined, { kind, at }: TaskHappening): boolean {
  if (above === undefined) return true
  const since = Date.parse(at) - Date.parse(above)
  return kind === 'request' || kind === 'callback' || kind === 'webhook' ? since !== 0 : since > SAME_MS || since < 0
}

const lastStateOf = (rows: readonly Row[]): StateName =>
  rows.findLast(({ of }) => of.kind === 'transition')?.state ?? 'draft'

/** How many attempts each delivery has had. */
function attemptsOf(happenings: readonly TaskHappening[]): Map<string, number> {
  const most = new Map<string, number>()
  for (const one of happenings)
    if (one.kind === 'webhook') most.set(one.deliveryId, Math.max(one.attempt, most.get(one.deliveryId) ?? 0))
  return most
}

/** Puts what was said with its request, if there is one. */
function standsWith(rows: readonly Mutable[], of: TaskHappening): boolean {
  const actions = SAID[of.kind]
  const said = saidIn(of)
  if (!actions || !said) return false
  const row = rows
    .slice(-6)
    .findLast(
      ({ of }) => (of.kind === 'request' || of.kind === 'callback') && actions.includes(of.action) && of.status < 300,
    )
  if (!row || row.said.some(({ text }) => text === said.text)) return false
  row.said.push(said)
  if (of.kind === 'review') row.beside = `${of.rating} of 5`
  if (of.kind === 'deliverable') row.beside = [row.beside, sizeOf(of)].filter(Boolean).join(', ')
  return true
}

const sizeOf = ({ characters, files }: Of<'deliverable'>) =>
  [characters > 0 && count(characters, 'character'), files > 0 && count(files, 'file')].filter(Boolean).join(', ')

function saidIn(of: TaskHappening): { text: string; cut: boolean } | null {
  if (of.kind === 'message') return { text: of.text ?? '', cut: of.cut }
  // The work has a place of its own, beside the rows.
  if (of.kind === 'deliverable') return { text: '', cut: false }
  if (of.kind === 'dispute') return { text: of.reason, cut: false }
  if (of.kind === 'review') return { text: of.comment ?? '', cut: false }
  if (of.kind === 'decision') return { text: decisionOf(of), cut: false }
  return null
}

const decisionOf = ({ outcome, refundAmount }: Of<'decision'>) => `${outcome}, ${units(refundAmount)} to the buyer`

const base = (of: TaskHappening): Omit<Mutable, 'state' | 'isTimed'> => ({
  id: of.id,
  at: of.at,
  realAt: of.realAt,
  of,
  from: LANES[of.by.party],
  to: null,
  icon: 'empty',
  who: WHO[of.by.party],
  what: '',
  beside: '',
  result: null,
  took: null,
  said: [],
  isFailed: false,
})

const isBad = (status: number | null) => status === null || status >= 300

function partsOf(of: TaskHappening, attempts: ReadonlyMap<string, number>): Partial<Mutable> {
  switch (of.kind) {
    case 'request':
    case 'callback':
      return requestParts(of)
    case 'webhook':
      return webhookParts(of, attempts)
    case 'transition':
      return { from: 'market', icon: taskStates[of.to][1], who: 'State', what: taskStates[of.to][2] }
    case 'transfer':
      return {
        from: 'market',
        icon: 'coin',
        who: 'Money',
        what: units(of.amount),
        beside: `${accountOf(of.from)} to ${accountOf(of.to)}`,
      }
    case 'message':
      return { icon: 'talk', what: 'message', said: [saidIn(of)!] }
    case 'deliverable':
      return { icon: 'box', what: `work, version ${of.version}`, beside: sizeOf(of) }
    case 'review':
      return { icon: 'star', what: 'review', beside: `${of.rating} of 5`, said: of.comment ? [saidIn(of)!] : [] }
    case 'dispute':
      return { icon: 'flag', what: 'opens a dispute', said: [saidIn(of)!] }
    case 'decision':
      return { icon: 'scales', what: 'decides the dispute', beside: decisionOf(of) }
    default:
      return simulatorParts(of)
  }
}

function simulatorParts(of: Of<'restart' | 'fault' | 'clock' | 'persona'>): Partial<Mutable> {
  if (of.kind === 'restart') return { from: 'agent', icon: 'retry', who: 'Agent', what: of.message }
  if (of.kind === 'fault') return { from: 'market', icon: 'bolt', who: 'Fault', what: of.fault, beside: `on ${of.on}` }
  if (of.kind === 'clock')
    return { from: 'market', icon: 'hour', who: 'Clock', what: `the clock moves by ${span(of.byMs)}` }
  return { from: 'buyer', icon: 'person', who: of.persona, what: of.message }
}

function requestParts(of: Of<'request' | 'callback'>): Partial<Mutable> {
  const isAgents = of.kind === 'callback'
  const from = isAgents ? 'agent' : LANES[of.by.party]
  const isFailed = isBad(of.status)
  return {
    from,
    to: from === 'market' ? null : 'market',
    who: isAgents ? 'Callback' : WHO[of.by.party],
    what: ACTIONS[of.action] ?? of.action.replaceAll('_', ' '),
    beside: of.via === 'signature' ? 'signed' : of.via === 'key' ? 'by key' : '',
    result: { tone: isFailed ? 'bad' : '', word: String(of.status), more: of.error ?? '' },
    took: of.ms,
    isFailed,
  }
}

function webhookParts(of: Of<'webhook'>, attempts: ReadonlyMap<string, number>): Partial<Mutable> {
  const most = attempts.get(of.deliveryId) ?? 1
  const isFailed = of.outcome === 'retry' || of.outcome === 'failed'
  return {
    from: 'market',
    to: 'agent',
    who: 'Webhook',
    what: of.event,
    beside: [most > 1 && `${of.attempt} of ${most}`, of.redeliveryOf && 'resent'].filter(Boolean).join(', '),
    result: {
      tone: of.outcome === 'sending' ? 'run' : isFailed ? 'bad' : 'ok',
      word: of.status === null ? (of.outcome === 'sending' ? 'under way' : '') : String(of.status),
      more: isFailed ? of.message : '',
    },
    took: of.ms,
    isFailed,
  }
}

const accountOf = ({ account, party }: Of<'transfer'>['from']) =>
  account === 'held' || account === 'world' || party === 'marketplace'
    ? account
    : `${party === 'agent' ? 'builder' : party}, ${account}`

/** `0.13 s`, `55.5 s`, `47 h 59 min`. */
export function short(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(ms < 1000 ? 2 : 1)} s`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : span(ms)
}

/** Which rows are shown. */
export const SHOWS = ['', 'failed', 'money', 'agent'] as const
export type Show = (typeof SHOWS)[number]

export function isShown({ of, isFailed, from, to }: Row, show: Show): boolean {
  if (show === 'failed') return isFailed
  if (show === 'money') return of.kind === 'transfer'
  return show === '' || from === 'agent' || to === 'agent'
}

/** The rows that are shown, with gaps and advice between them. */
export function linesOf(rows: readonly Row[], show: Show): Line[] {
  const lines: Line[] = []
  const told = new Set<string>()
  let before: Row | undefined
  for (const row of rows.filter(row => isShown(row, show))) {
    const gap = before && show !== 'money' ? gapBetween(before, row) : null
    if (gap) lines.push(gap)
    lines.push(row)
    const advice = adviceOn(row)
    if (advice && !told.has(advice.cause)) {
      told.add(advice.cause)
      lines.push({ advice, id: `${row.id}-d`, at: row.at, state: row.state, about: row.id })
    }
    before = row
  }
  return lines
}

const adviceOn = ({ of, isFailed }: Row) => (isFailed && 'diagnosis' in of ? of.diagnosis : null)

function gapBetween(before: Row, row: Row): Gap | null {
  const market = Date.parse(row.at) - Date.parse(before.at) - (before.took ?? 0)
  const real =
    row.realAt && before.realAt ? Date.parse(row.realAt) - Date.parse(before.realAt) - (before.took ?? 0) : null
  if (market < MARKET_GAP_MS && (real ?? market) < REAL_GAP_MS) return null
  const isMoved = real !== null && Math.abs(market - real) > 1000
  return {
    gap: `gap-${row.id}`,
    state: before.state,
    words: isMoved ? `${span(market)} passed in ${short(real)}` : `Nothing for ${span(Math.max(market, 0))}`,
    more: isMoved ? 'the clock was moved' : '',
  }
}

/** What a row says, as one sentence: for its link, and for who hears it. */
export const sentenceOf = ({ who, what, beside, result, took }: Row): string =>
  [`${who}: ${what}`, beside, result?.word, result?.more, took !== null && `${took} ms`].filter(Boolean).join(', ')
