// engines: embedded; process: shared
/** Deliveries that wait in memory for a slot at their host. Source: A-37. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Backlog } from '../../../src/market/webhooks/in-flight.ts'
import type { TargetedDelivery } from '../../../src/market/webhooks/target.ts'

/** `busy`: hosts without a free slot. */
function open(busy: string[] = []) {
  const waiting = new Map<string, number>()
  const backlog = new Backlog({
    freeSlots: () => 5,
    hasSlot: ({ host }) => !busy.includes(host),
    countWaiting: ({ host }, by) => void waiting.set(host, (waiting.get(host) ?? 0) + by),
  })
  return { backlog, waiting }
}

const one = (id: string, host: string) =>
  ({ delivery: { id, agentId: `agent of ${host}` }, to: { host, keys: [] } }) as unknown as TargetedDelivery

const idOf = (next: TargetedDelivery | undefined) => next?.delivery.id

test('what is dropped of one agent leaves what waits of the others, in its order', () => {
  const { backlog, waiting } = open()
  for (const each of [one('1', 'a'), one('2', 'b'), one('3', 'a'), one('4', 'c')]) backlog.add(each)
  assert.equal(
    backlog.drop(({ agentId }) => agentId === 'agent of a').map(({ id }) => id),
    ['1', '3'],
  )
  assert.equal([...waiting], [...Object.entries({ a: 0, b: 1, c: 1 })])
  assert.equal([idOf(backlog.next()), idOf(backlog.next()), idOf(backlog.next())], ['2', '4', undefined])
  assert.equal([...waiting.values()], [0, 0, 0])
})

test('a host without a slot holds nobody up', () => {
  const busy = ['a']
  const { backlog } = open(busy)
  for (const each of [one('1', 'a'), one('2', 'b')]) backlog.add(each)
  assert.equal([idOf(backlog.next()), idOf(backlog.next())], ['2', undefined])
  busy.pop()
  assert.is(idOf(backlog.next()), '1')
})

test.run()
