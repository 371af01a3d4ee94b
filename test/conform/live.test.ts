// engines: embedded; process: shared
/** What is told while a run goes on: what is sure, and never what has another cause that is seen a moment later. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Live } from '../../src/cli/conformance/progress.ts'
import { createUi } from '../../src/cli/output/ui.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { contentOf, type Happening, History, type Recorded } from '../../src/conform/history/history.ts'

const begin: Happening = {
  ...{ kind: 'begin', schema: 'conformance-history/1', version: '1.0.0', seed: 7, declared: [] },
  ...{ agent: { url: 'http://localhost:1/', command: null }, patience: { answer: 1, work: 1 } },
}
const body = contentOf(Buffer.from('{}'))

const webhook = (label: string, genuine: boolean, status: number): Happening => ({
  ...{ kind: 'webhook', label, taskId: `task of ${label}`, event: 'task.submitted', deliveryId: 'd', attempt: 1 },
  ...{ change: 'another spelling', genuine, method: 'POST', url: 'http://localhost:1/', headers: [], body },
  ...{ answer: { status, headers: [], body }, error: null, ms: 1 },
})

/** Of an agent that verifies what it has written anew. */
const seen = [
  webhook('sig.valid', true, 200),
  webhook('sig.body-other-spelling', false, 200),
  webhook('bytes.spaces', true, 401),
]

/** Plays these scenarios, each a second and more after the last, and returns the ids that are told, in order. */
async function told(ids: readonly string[], ...scenarios: readonly string[]): Promise<string[]> {
  const lines: string[] = []
  const ui = createUi({ write: (line: string) => void lines.push(line) }, false)
  const output = { json: false, notes: ui, out: ui } as unknown as Parameters<typeof Live.open>[0]
  const chosen = checks.filter(({ id }) => ids.includes(id))
  const live = await Live.open(output, { bail: false, stop: () => {} }, { chosen, baseline: {} })
  const events: Recorded[] = []
  const played = scenarios.map(
    (scenario): Happening => ({ kind: 'scenario', scenario, outcome: 'done', why: '', byDeclaration: false, ms: 1 }),
  )
  for (const happening of [begin, ...seen, ...played]) {
    events.push({ seq: events.length + 1, lane: null, at: 0, realAt: events.length * 1_500, ...happening })
    live.hear(events.at(-1)!, new History(events))
  }
  return [...lines.join('').matchAll(/✖ (\S+):/g)].map(([, id]) => id!)
}

const CAUSE = 'sig.body-other-spelling'
const EFFECT = 'bytes.spaces'

test('what is broken is told once it has been so for a second, and once', async () => {
  assert.equal(await told([CAUSE], 'forged'), [])
  assert.equal(await told([CAUSE], 'forged', 'buyers'), [CAUSE])
  assert.equal(await told([CAUSE], 'forged', 'buyers', 'samples'), [CAUSE])
})

test('what comes after a check waits for it, and is not told if that is broken', async () => {
  assert.equal(await told([CAUSE, EFFECT], 'odd bytes', 'buyers', 'forged', 'samples', 'revisions'), [CAUSE])
})

test('it does not wait for what nobody has asked for', async () => {
  assert.equal(await told([EFFECT], 'odd bytes', 'buyers'), [EFFECT])
})

test.run()
