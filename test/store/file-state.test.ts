// engines: embedded; process: shared
/** What is done with the files of a database, over all states that they can be in, and every interruption of every step. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Found,
  type Misfit,
  type Span,
  type State,
  type Step,
  stateOf,
  stepsOfFold,
  stepsOfSnapshot,
  stepsOfStart,
} from '../../src/store/embedded/file-state.ts'
import { same } from '../../src/store/embedded/frame.ts'

// Journals begin at even places; behind each is the end of an empty one: the same record, another checksum.
const LAST = 7
const position = (at: number) => ({ seq: at >> 1, chain: at })
const span = (from: number, to: number, marked: boolean): Span => ({ start: position(from), end: position(to), marked })

const spans = (marks: readonly boolean[]) => {
  const found: (Span | undefined)[] = [undefined]
  for (let from = 0; from < LAST; from += 2) {
    for (let to = from + 1; to <= LAST; to++) for (const marked of marks) found.push(span(from, to, marked))
  }
  return found
}

/** Every combination: also those that nothing leaves. */
function* everything(): Generator<Found> {
  for (const sealed of spans([true, false])) {
    for (const current of spans([true, false])) {
      for (let at = 0; at <= LAST; at++) {
        for (const edited of [false, true]) yield { snapshot: position(at), edited, sealed, current }
      }
    }
  }
}

class Refused extends Error {}
const stateIn = (found: Found) => stateOf(found, (misfit: Misfit) => new Refused(JSON.stringify(misfit)))
const stateOrNull = (found: Found) => {
  try {
    return stateIn(found)
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

/** What the files say has happened: the records of the snapshot, then each that is done again. */
const recordsIn = (found: Found, { follow }: State) => {
  const records = Array.from({ length: found.snapshot.seq }, (_, i) => i)
  for (const part of follow) for (let seq = found[part]!.start.seq; seq < found[part]!.end.seq; seq++) records.push(seq)
  return records
}

const without = (found: Found, part: 'sealed' | 'current'): Found => ({ ...found, [part]: undefined })

const done = (found: Found, step: Step, end: Found['snapshot']): Found => {
  if (step === 'remove sealed') return without(found, 'sealed')
  if (step === 'remove current') return without(found, 'current')
  if (step === 'write snapshot again') return { ...found, edited: false }
  if (step === 'write snapshot at the end') return { ...found, edited: false, snapshot: end }
  if (step === 'begin current') {
    return { ...found, current: { start: end, end: { seq: end.seq, chain: end.chain + 100 }, marked: false } }
  }
  return found
}

/** All that may be found if these steps are interrupted: a name may come back until the names are synced. */
const interruptions = (found: Found, steps: readonly Step[], end: Found['snapshot']) => {
  const left: Found[] = [found]
  let back: Found[] = [found]
  let now = found
  for (const step of steps) {
    now = done(now, step, end)
    if (step.startsWith('remove ')) back = [...back, now]
    else if (step === 'sync names') back = [now]
    else back = back.map(before => done(before, step, end))
    left.push(now, ...back)
  }
  return { left, now }
}

const accepted = [...everything()].flatMap(found => {
  const state = stateOrNull(found)
  return state ? [{ found, state }] : []
})

test('each state of the files has a name, and whatever else is found is refused', () => {
  const names = new Set(accepted.map(({ state }) => state.name))
  assert.equal([...names].sort(), [
    'both follow',
    'both taken in',
    'current follows',
    'current taken in',
    'sealed follows',
    'sealed taken in',
    'sealed taken in, current follows',
    'snapshot alone',
  ])
})

test('journals are accepted only where one goes on from the other, sealed ones with their mark, and the snapshot between', () => {
  for (const found of everything()) {
    const { snapshot, sealed, current, edited } = found
    const line = [sealed, current].filter(part => part !== undefined)
    const joints = [...line.map(({ start }) => start), ...line.slice(-1).map(({ end }) => end)]
    const fits =
      (!sealed || sealed.marked) &&
      (!sealed || !current || same(sealed.end, current.start)) &&
      (line.length === 0 || joints.some(joint => same(joint, snapshot))) &&
      !(edited && (line.at(-1)?.end.seq ?? 0) > snapshot.seq)
    assert.is(stateOrNull(found) !== null, fits, JSON.stringify(found))
  }
})

test('a refusal names the parts that do not fit together', () => {
  const partsIn = (found: Found) => {
    try {
      stateIn(found)
    } catch (error) {
      return JSON.parse((error as Error).message)
    }
  }
  const [low, high] = [span(0, 2, true), span(4, 6, false)]
  const parts = (one: string, other: string) => ({ why: 'apart', parts: [one, other] })
  const from = { snapshot: position(0), edited: false }
  assert.equal(partsIn({ ...from, sealed: low, current: high }), parts('sealed', 'current'))
  assert.equal(partsIn({ ...from, sealed: undefined, current: high }), parts('snapshot', 'current'))
  assert.equal(partsIn({ ...from, sealed: span(4, 6, true), current: undefined }), parts('snapshot', 'sealed'))
})

test('no record is done twice and none is left out', () => {
  for (const { found, state } of accepted) {
    assert.equal(
      recordsIn(found, state),
      Array.from({ length: state.end.seq }, (_, i) => i),
      JSON.stringify(found),
    )
  }
})

const holdThroughout = (steps: (state: State, found: Found) => Step[], from = accepted) => {
  const ends: Found[] = []
  for (const { found, state } of from) {
    const { left, now } = interruptions(found, steps(state, found), state.end)
    for (const interrupted of left) {
      const where = `${JSON.stringify(found)} became ${JSON.stringify(interrupted)}`
      const again = stateOrNull(interrupted)
      assert.ok(again, `${where}: refused`)
      assert.equal(recordsIn(interrupted, again!), recordsIn(found, state), where)
    }
    ends.push(now)
  }
  return ends
}

test('a start that is interrupted at any step is followed by one that finds the same; then the journal grows', () => {
  for (const now of holdThroughout((state, found) => stepsOfStart(state, found))) {
    const current = now.current!
    const grown = { ...now, current: { ...current, end: { seq: current.end.seq + 1, chain: 999 } } }
    const state = stateOrNull(grown)
    assert.ok(state, `${JSON.stringify(grown)}: refused`)
    assert.is(recordsIn(grown, state!).length, current.end.seq + 1)
  }
})

test('a snapshot that is interrupted at any step is followed by a start that finds the same, also when the journal has grown', () => {
  const folding = accepted
    .filter(({ found }) => found.sealed && !found.edited)
    .map(({ found }) => {
      const alone = without(found, 'current')
      return { found: alone, state: stateOrNull(alone) }
    })
    .flatMap(({ found, state }) => (state ? [{ found, state }] : []))
  for (const now of holdThroughout(state => stepsOfFold(state), folding)) assert.is(now.sealed, undefined)
  for (const { found, state } of folding) {
    const current: Span = { start: found.sealed!.end, end: { seq: state.end.seq + 3, chain: 999 }, marked: false }
    for (const left of interruptions(found, stepsOfFold(state), state.end).left) {
      const beside = { ...left, current }
      assert.is(recordsIn(beside, stateIn(beside)).length, state.end.seq + 3, JSON.stringify(beside))
    }
  }
})

test('a sealed journal is not taken into a snapshot that stands elsewhere', () => {
  const sealed = span(2, 5, true)
  for (let at = 0; at <= LAST; at++) {
    const found = { snapshot: position(at), edited: false, sealed, current: undefined }
    assert.is(stateOrNull(found) !== null, at === 2 || at === 5, `a snapshot at ${at}`)
  }
})

test('db snapshot that is interrupted at any step is followed by a start that finds the same; at its end the file stands alone', () => {
  for (const { sealed, current, edited } of holdThroughout(stepsOfSnapshot)) {
    assert.equal({ sealed, current, edited }, { sealed: undefined, current: undefined, edited: false })
  }
})

test('no journal goes before the snapshot that has it is durable under its name, nor two at once', () => {
  const makesDurable = (step: Step) => step === 'sync names' || step.startsWith('write ') || step === 'begin current'
  for (const { found, state } of accepted) {
    const all = [stepsOfStart(state, found), stepsOfSnapshot(state, found)]
    if (!found.current && !found.edited) all.push(stepsOfFold(state))
    for (const steps of all) {
      let durable = false
      for (const step of steps) {
        const removes = step === 'remove sealed' || step === 'remove current'
        // It takes the name of the journal that is there.
        const replaces = step === 'begin current' && found.current !== undefined
        if (removes || replaces) assert.ok(durable, `${step} of ${steps}, from ${JSON.stringify(found)}`)
        durable = makesDurable(step) || (durable && !removes)
      }
    }
  }
})

test('what has no mark is written anew before anybody is shown it, and so is all that a silent owner has open', () => {
  const current = span(0, 3, false)
  const found = { snapshot: position(0), edited: false, sealed: undefined, current }
  assert.ok(stepsOfStart(stateIn(found), found).includes('write current anew'))
  const alone = stepsOfSnapshot(stateIn(found), found)
  assert.ok(alone.includes('write current anew'), 'the medium must not have less than the snapshot takes in')
  assert.ok(alone.indexOf('write current anew') < alone.indexOf('write snapshot at the end'))
  const marked = { ...found, current: span(0, 3, true) }
  assert.not(stepsOfStart(stateIn(marked), marked).includes('write current anew'))
  assert.ok(stepsOfStart(stateIn(marked), marked, true).includes('write current anew'))
})

test.run()
