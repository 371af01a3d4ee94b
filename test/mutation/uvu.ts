/**
 * Stands for uvu in a workshop: tests are written as ever, and it is told from outside which of them run. What uvu does that
 * no test of ours uses is left out.
 */

type State = Record<string, unknown>
type Work = (state: State) => unknown

interface Test {
  readonly name: string
  readonly work: Work
}

interface Group {
  readonly name: string
  readonly state: State
  readonly tests: Test[]
  readonly before: Work[]
  readonly beforeEach: Work[]
  readonly after: Work[]
  readonly afterEach: Work[]
}

/** Those of which `run` was called, since the last file. */
const groups: Group[] = []

const emptyGroup = (name: string, state: State): Group => ({
  ...{ name, state },
  ...{ tests: [], before: [], beforeEach: [], after: [], afterEach: [] },
})

export function suite(name = '', state: State = {}) {
  let group = emptyGroup(name, state)
  const add = (title: string, work: Work) => void group.tests.push({ name: title, work })
  const hook = (kind: 'before' | 'beforeEach' | 'after' | 'afterEach') => (work: Work) => void group[kind].push(work)
  return Object.assign(add, {
    before: Object.assign(hook('before'), { each: hook('beforeEach') }),
    after: Object.assign(hook('after'), { each: hook('afterEach') }),
    run() {
      groups.push(group)
      group = emptyGroup(name, state)
    },
  })
}

export const test = suite()

/** Hears of each test as it begins and as it has passed. */
export interface Listener {
  begin(test: string): void
  pass(test: string): void
}

/**
 * Runs these tests of the file that was loaded last, in its order, or all of them. Throws as the first of them does. Tells
 * how many have run.
 */
export async function runTests(wanted: readonly string[] | null, listener: Listener): Promise<number> {
  const all = namedTests(groups.splice(0))
  const names = new Set(all.map(({ name }) => name))
  // A change may make other tests of a table: then there is nothing to choose.
  const chosen = wanted?.every(name => names.has(name)) ? all.filter(({ name }) => wanted.includes(name)) : all
  for (const group of new Set(chosen.map(one => one.group))) {
    const tests = chosen.filter(one => one.group === group)
    for (const work of group.before) await work(group.state)
    for (const { name, work } of tests) {
      listener.begin(name)
      await runOne(group, work)
      listener.pass(name)
    }
    for (const work of group.after) await work(group.state)
  }
  return chosen.length
}

/** Nothing is cleaned up behind a test that failed: its process ends with it. */
async function runOne({ beforeEach, afterEach, state }: Group, work: Work): Promise<void> {
  for (const hook of beforeEach) await hook(state)
  await work(state)
  for (const hook of afterEach) await hook(state)
}

interface NamedTest extends Test {
  readonly group: Group
}

/** Each under a name that no other test of the file has. */
function namedTests(groups: readonly Group[]): NamedTest[] {
  const taken = new Map<string, number>()
  return groups.flatMap(group =>
    group.tests.map(({ name, work }) => {
      const said = group.name === '' ? name : `${group.name}: ${name}`
      const count = (taken.get(said) ?? 0) + 1
      taken.set(said, count)
      return { name: count === 1 ? said : `${said} (${count})`, work, group }
    }),
  )
}
