// engines: embedded; process: shared
/** What is told while a run goes on: what is sure, and never what has another cause that is seen a moment later. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Live } from '../../src/cli/conformance/progress.ts'
import { createUi } from '../../src/cli/output/ui.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { History } from '../../src/conform/history/history.ts'
import type { Level } from '../../src/conform/judging/check.ts'
import { begin, historyOf, played, webhook } from './made-up.ts'

/** Of an agent that verifies what it has written anew. */
const seen = [
  webhook('sig.valid', 200),
  webhook('sig.body-other-spelling', 200, { change: 'another spelling', genuine: false }),
  webhook('bytes.spaces', 401),
]

/** Plays these scenarios, each a second and more after the last, and returns the ids that are told, in order. */
async function toldUnder(
  levels: Readonly<Record<string, Level>>,
  ids: readonly string[],
  ...scenarios: readonly string[]
): Promise<string[]> {
  const lines: string[] = []
  const ui = createUi({ write: (line: string) => void lines.push(line) }, false)
  const output = { json: false, notes: ui, out: ui } as unknown as Parameters<typeof Live.open>[0]
  const chosen = checks.filter(({ id }) => ids.includes(id))
  const live = await Live.open(output, { bail: false, stop: () => {} }, { chosen, baseline: {}, levels })
  const { events } = historyOf([begin, ...seen, ...scenarios.map(scenario => played(scenario))], 1_500)
  for (const [at, event] of events.entries()) live.hear(event, new History(events.slice(0, at + 1)))
  return [...lines.join('').matchAll(/✖ (\S+):/g)].map(([, id]) => id!)
}

const told = (ids: readonly string[], ...scenarios: readonly string[]) => toldUnder({}, ids, ...scenarios)

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

test('what the set of requirements does not call a must is not told', async () => {
  assert.equal(await toldUnder({ [CAUSE]: 'should' }, [CAUSE], 'forged', 'buyers'), [])
})

test.run()
