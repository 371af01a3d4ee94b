/** Both sides of an edge of a check: histories that are made up, by the verdict that they have. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import { contentOf, type Happening } from '../../src/conform/history/history.ts'
import type { Check } from '../../src/conform/judging/check.ts'
import { judge } from '../../src/conform/judging/judge.ts'
import { begin, historyOf, played, reply, task, webhook } from './made-up.ts'

export const text = (of: object | string) => contentOf(Buffer.from(typeof of === 'string' ? of : JSON.stringify(of)))
export const answered = (status: number, of: object | string = '{}') => ({ status, headers: [], body: text(of) })
let signatures = 0

export type Callback = NonNullable<Parameters<typeof reply>[1]>
type Webhook = NonNullable<Parameters<typeof webhook>[2]>

/** A callback that was taken, signed as no other. Times are those of its answer. */
export const callback = (label: string, action: string, content = '', { headers, ...more }: Callback = {}): Happening =>
  reply(label, {
    ...{ action, body: text({ action, content, taskId: `task of ${label}` }), answer: answered(200) },
    ...more,
    headers: headers ?? [
      ['X-Service-Signature', `${++signatures}`.padStart(64, '0')],
      ['X-Service-Timestamp', '1767225600000'],
      ['Content-Type', 'application/json'],
    ],
  })
export const deliver = (label: string, content = 'a', more: Callback = {}) => callback(label, 'deliver', content, more)
export const forged = (label: string, status: number | null, more: Webhook = {}) =>
  webhook(label, status, { genuine: false, event: null, change: 'forged', ...more })
export const told = (label: string, event: string, more: Webhook = {}) =>
  webhook(label, 200, { event: `task.${event}`, ...more })
/** It was not taken. */
export const refused = { answer: answered(400) }
export const at = (realAt: number, one: Happening): Happening => Object.assign({}, one, { realAt })
export const process = (what: 'ready' | 'ended' | 'killed', ms = 1) =>
  ({ kind: 'process', what, text: '', ms, lane: null }) as unknown as Happening
export const request = (path: string, status: number): Happening => ({ kind: 'request', method: 'POST', path, status })
export const money = (label: string, move: string, amount: number): Happening => ({
  ...{ kind: 'money', taskId: `task of ${label}`, move, amount, from: '', to: '' },
})
export const quiet = { kind: 'quiet', ms: 1 } as Happening
export const first = task('first-task')
export const times = <One>(count: number, make: (at: number) => One) =>
  Array.from({ length: count }, (_, index) => make(index))

/** The verdict of one check, and what it has seen. */
function verdict(census: readonly Check[], id: string, ...happenings: readonly Happening[]): string {
  const check = census.find(one => one.id === id)!
  const begun = happenings[0]?.kind === 'begin' ? happenings : [begin, ...happenings]
  const [judged] = judge([check], historyOf([...begun, played(check.scenario)]))
  return `${judged!.verdict} ${judged!.text}`.trim()
}

/** What is on either side of an edge, by the verdict. */
type Sides = Readonly<Record<string, readonly (readonly Happening[])[]>>

export function edge(id: string, of: string, sides: Sides, census = checks): void {
  test(`${id}: ${of}`, () => {
    for (const [wanted, histories] of Object.entries(sides))
      for (const [number, happenings] of histories.entries()) {
        const said = verdict(census, id, ...happenings)
        assert.ok(new RegExp(`^${wanted}`).test(said), `${number + 1} of those that ${wanted}: ${said}`)
      }
  })
}
