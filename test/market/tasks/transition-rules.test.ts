// engines: embedded; process: shared
/** Whose turn it is, as a sentence: a refusal names what was tried and the state that it found. Source: I-out-of-turn, A-32. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Party, partiesOf, type TaskState, type TaskTrigger } from '../../../src/api/flow.ts'
import type { Actor } from '../../../src/market/market.ts'
import { edgeFor } from '../../../src/market/tasks/transitions.ts'
import type { UserRow } from '../../../src/store/tables/accounts/users.ts'
import type { TaskRow } from '../../../src/store/tables/tasks/tasks.ts'

const words: Readonly<Record<TaskTrigger, readonly [state: TaskState, said: string]>> = {
  update: ['pending', "A task that is pending can't be updated"],
  submit: ['pending', "A task that is pending can't be submitted"],
  cancel: ['completed', "A task that is completed can't be cancelled"],
  accept: ['draft', "A task that is draft can't be accepted"],
  reject: ['in_progress', "A task that is in_progress can't be rejected"],
  deliver: ['pending', "A task that is pending can't be delivered"],
  approve: ['in_progress', "A task that is in_progress can't be approved"],
  request_revision: ['in_progress', "A task that is in_progress can't be sent back for a revision"],
  dispute: ['draft', "A task that is draft can't be disputed"],
  resolve_refund: ['cancelled', "A task that is cancelled can't be resolved"],
  resolve_release: ['cancelled', "A task that is cancelled can't be resolved"],
  resolve_split: ['cancelled', "A task that is cancelled can't be resolved"],
  message: ['draft', "A task that is draft can't be written about"],
  review: ['delivered', "A task that is delivered can't be reviewed"],
}

const task = (status: TaskState, disputed: 0 | 1 = 0) =>
  ({ id: 'task', buyerId: 'buyer', builderId: 'builder', hirerId: 'hirer', status, disputed }) as TaskRow

const actor = (party: Party | 'hirer' | 'stranger'): Actor => ({
  user: { id: party, isAdmin: party === 'admin' ? 1 : 0 } as UserRow,
  via: 'key',
  credential: 'key',
})

const told = (work: () => unknown) => {
  try {
    work()
    return 'nothing'
  } catch (error) {
    return (error as Error).message
  }
}

for (const [trigger, [state, said]] of Object.entries(words) as [TaskTrigger, readonly [TaskState, string]][]) {
  test(`${trigger}, out of turn: “${said}”`, () => {
    for (const party of partiesOf(trigger))
      assert.is(
        told(() => edgeFor(actor(party), task(state), trigger)),
        said,
      )
  })
}

test('the builder of a buying agent is its buyer as well, and a stranger is nobody', () => {
  assert.is(edgeFor(actor('buyer'), task('draft'), 'submit').to, 'pending')
  assert.is(edgeFor(actor('hirer'), task('draft'), 'submit').to, 'pending')
  for (const who of ['builder', 'stranger', 'admin'] as const) {
    assert.match(
      told(() => edgeFor(actor(who), task('draft'), 'submit')),
      /buyer/,
    )
  }
})

test('whoever may not pull it is told who may, and not whether it is in turn', () => {
  assert.match(
    told(() => edgeFor(actor('stranger'), task('completed'), 'accept')),
    /builder/,
  )
  assert.match(
    told(() => edgeFor(actor('buyer'), task('pending'), 'resolve_refund')),
    /admin/,
  )
})

test('while a dispute is open, only what ends it is in turn', () => {
  assert.match(
    told(() => edgeFor(actor('buyer'), task('delivered', 1), 'approve')),
    /open dispute/,
  )
  assert.is(edgeFor(actor('admin'), task('delivered', 1), 'resolve_release').trigger, 'resolve_release')
})

test.run()
