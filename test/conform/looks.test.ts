// engines: embedded; process: shared
/** An agent that looks through its tasks knows them without a webhook: what it does about them is not laid to one that it has refused. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checks } from '../../src/conform/checks/index.ts'
import type { Happening } from '../../src/conform/history/history.ts'
import { historyOf, played, reply, task, webhook } from './made-up.ts'

const looks = (path = '/behind/a-proxy/api/tasks?status=pending', status = 200): Happening => ({
  ...{ kind: 'request', method: 'GET', path, status },
})

function holds(id: string, ...happenings: readonly Happening[]): boolean | null | undefined {
  const check = checks.find(one => one.id === id)!
  const ends = [played(check.scenario), { kind: 'quiet', ms: 500 } as const]
  return check.judge(historyOf([...happenings, ...ends])).holds as boolean | null | undefined
}

const cases: Readonly<Record<string, readonly Happening[]>> = {
  'sig.wrong-secret': [
    webhook('sig.valid', 200),
    task('sig.wrong-secret'),
    webhook('sig.wrong-secret', 401, { genuine: false, change: 'forged' }),
    reply('sig.wrong-secret', { action: 'accept', signature: 'key' }),
    webhook('sig.valid', 200),
  ],
  'http.unknown-event': [
    task('http.unknown-event'),
    webhook('http.unknown-event', 200, { event: 'task.archived' }),
    reply('http.unknown-event', { action: 'accept', signature: 'key' }),
  ],
  'rel.cut-body': [
    task('rel.cut-body'),
    webhook('rel.cut-body', 400, { genuine: false, change: 'cut' }),
    reply('rel.cut-body', { action: 'accept', signature: 'key' }),
    webhook('rel.cut-body/next', 200),
  ],
}

for (const [id, happenings] of Object.entries(cases)) {
  const at = happenings.findIndex(({ kind }) => kind === 'callback')
  const withLook = (place: number, look: Happening) => holds(id, ...happenings.toSpliced(place, 0, look))

  test(`${id}: what comes after a look through the tasks is its own`, () => {
    assert.is(withLook(at, looks()), true)
  })

  test(`${id}: without one, before the task was there, after it, at one task, or where it was refused, it is not`, () => {
    const begins = happenings.findIndex(({ kind }) => kind === 'task')
    assert.is.not(holds(id, ...happenings), true)
    assert.is.not(withLook(begins, looks()), true)
    assert.is.not(withLook(at + 1, looks()), true)
    assert.is.not(withLook(at, looks('/behind/a-proxy/api/tasks/task_1')), true)
    assert.is.not(withLook(at, looks(undefined, 401)), true)
  })
}

test.run()
