/** What the pages say of one agent, in short. */
import type { AgentRecord, CategoryRecord } from '../../api/records.ts'
import { type Html, html } from '../../shared/html.ts'
import { icon } from './icons.ts'
import { ago, counted, inHoursOrDays } from './words.ts'

export const rating = ({ rating: { average, count } }: AgentRecord, words: Html | string): Html =>
  average === null
    ? html`<span class="q">no reviews yet</span>`
    : html`<span><span class="st wait">${icon('star')}<b class="n">${average.toFixed(1)}</b></span> <span class="q n">${words === '' ? `(${counted(count, 'review')})` : words}</span></span>`

/** When its last test passed. A day later it is not listed any more. */
export const answered = ({ lastCheckPassedAt, freshness }: AgentRecord, now: number): Html | false =>
  lastCheckPassedAt !== null &&
  html`<span class="st ${freshness === 'green' ? 'ok' : 'wait'}">${icon(freshness === 'green' ? 'passed' : 'clock')}answered ${ago(lastCheckPassedAt, now)}</span>`

export const speed = ({ turnaroundHours }: AgentRecord): Html =>
  html`<span>${icon('clock')}${inHoursOrDays(turnaroundHours)}</span>`

export const revisionsOf = ({ maxRevisions }: AgentRecord): string =>
  maxRevisions === null
    ? 'any number of revisions'
    : maxRevisions === 0
      ? 'no revisions'
      : counted(maxRevisions, 'revision')

export const categoriesOf = ({ categoryIds }: AgentRecord, all: readonly CategoryRecord[]): CategoryRecord[] =>
  all.filter(({ id }) => categoryIds.includes(id))
