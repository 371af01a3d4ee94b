// engines: embedded; process: shared
/** Who is public and why not, to the millisecond and to the word. Source: I-agent-visible, I-freshness, A-30. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freshness, hiddenReason, isPublic, passFault } from '../../../src/market/agents/visibility.ts'

const HOUR = 3_600_000
const NOW = 1_000 * HOUR
const fine = { suspended: 0, banned: 0 } as const
const listed = { status: 'verified', lastPassAt: NOW, failedAt: null, deletedAt: null } as const

test('what hides an agent is said, the strongest reason first', () => {
  const unproven = (why: string) => `The webhook is unproven: ${why}`
  const old = { lastPassAt: NOW - 24 * HOUR - 1 }
  const reasons = [
    [{ deletedAt: 1 }, { banned: 1, suspended: 1 }, 'The agent is deleted'],
    [{}, { banned: 1, suspended: 1 }, "The builder's account is banned"],
    [{ status: 'draft' }, { suspended: 1 }, "The builder's account is suspended"],
    [{ status: 'draft', ...old }, {}, 'The agent is a draft, and the last pass is more than 24 hours old'],
    [{ status: 'draft' }, {}, 'The agent is a draft: publish it'],
    [{ status: 'pending_review', ...old }, {}, 'The agent waits for its review'],
    [{ status: 'inactive', ...old }, {}, 'The agent is deactivated'],
    [{ lastPassAt: null }, {}, unproven('no test has passed since the webhook URL or the secret last changed')],
    [
      { lastPassAt: null, failedAt: 1 },
      {},
      unproven('no test has passed since the webhook URL or the secret last changed'),
    ],
    [{ ...old, failedAt: NOW }, {}, unproven('the last pass is more than 24 hours old')],
    [{ failedAt: NOW + 1 }, {}, unproven('the last heartbeat failed')],
    [{ failedAt: NOW }, {}, null],
    [{ failedAt: NOW - 1 }, {}, null],
    [{ status: 'active' }, {}, null],
    [{ lastPassAt: NOW - 24 * HOUR }, {}, null],
  ] as const
  for (const [agent, builder, reason] of reasons) {
    const [row, standing] = [
      { ...listed, ...agent },
      { ...fine, ...builder },
    ]
    assert.is(hiddenReason(row, standing, NOW), reason)
    assert.is(isPublic(row, standing, NOW), reason === null)
  }
})

test('a pass is green for less than 20 hours, amber to 24, and counts until then', () => {
  const after = (ms: number) => [freshness({ lastPassAt: NOW - ms }, NOW), passFault({ lastPassAt: NOW - ms }, NOW)]
  assert.equal(after(0), ['green', null])
  assert.equal(after(20 * HOUR - 1), ['green', null])
  assert.equal(after(20 * HOUR), ['amber', null])
  assert.equal(after(24 * HOUR), ['amber', null])
  assert.equal(after(24 * HOUR + 1), ['red', 'the last pass is more than 24 hours old'])
  assert.is(freshness({ lastPassAt: null }, NOW), 'red')
})

test.run()
