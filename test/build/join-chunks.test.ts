// engines: embedded; process: shared
/** Which chunks of the bundle become one file. Source: A-279. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { chunksToJoin, FILE } from '../../scripts/build/join-chunks.ts'

type Outputs = Parameters<typeof chunksToJoin>[0]

interface File {
  loads: readonly string[]
  bytes?: number
}

/** Files by their names: those in capitals are entries, and `npm:` begins the name of a package. */
const outputsOf = (files: Readonly<Record<string, File>>): Outputs =>
  Object.fromEntries(
    Object.entries(files).map(([name, { loads, bytes = 100 }]) => [
      `${name}.js`,
      {
        bytes,
        inputs: {},
        exports: [],
        imports: loads.map(path =>
          path.startsWith('npm:')
            ? { path: path.slice(4), kind: 'import-statement' as const, external: true }
            : { path: `${path}.js`, kind: 'import-statement' as const },
        ),
        ...(/^[A-Z]/.test(name) && { entryPoint: name }),
      },
    ]),
  )

/** The files that are made of several chunks, when each entry is started as often. */
function joined(files: Readonly<Record<string, File>>, weights: Readonly<Record<string, number>> = {}): string[] {
  const entries = Object.keys(files).filter(name => /^[A-Z]/.test(name))
  const starts = entries.map(entry => ({ entries: [entry], weight: weights[entry] ?? 1 }))
  return chunksToJoin(outputsOf(files), starts)
    .filter(paths => paths.length > 1)
    .map(paths => paths.map(path => path.replace('.js', '')).join(' '))
}

test('chunks that a start loads together are one file, and entries stay as they are', () => {
  assert.equal(joined({ A: { loads: ['a', 'b'] }, a: { loads: [] }, b: { loads: [] } }), ['a b'])
  assert.equal(joined({ A: { loads: ['a'] }, B: { loads: ['b'] }, a: { loads: [] }, b: { loads: [] } }), [])
})

test('a chunk that another start would load needlessly joins only if that costs less than a file', () => {
  const files = (bytes: number) => ({
    A: { loads: ['a', 'b'] },
    B: { loads: ['a'] },
    a: { loads: [] },
    b: { loads: [], bytes },
  })
  assert.equal(joined(files(FILE - 1_000)), ['a b'])
  assert.equal(joined(files(FILE + 1_000)), [])
  assert.equal(joined(files(FILE - 1_000), { B: 2 }), [], 'a start that counts more')
})

test('what a chunk loads itself counts too, packages most of all', () => {
  const files = (loads: string[]) => ({
    A: { loads: ['a', 'b'] },
    B: { loads: ['a'] },
    a: { loads: [] },
    b: { loads },
    c: { loads: [], bytes: 20_000 },
  })
  assert.equal(joined(files([])), ['a b'])
  assert.equal(joined(files(['c'])), ['b c'])
  assert.equal(joined(files(['npm:polka'])), [])
})

test('a chunk between two that are joined is joined as well, so that no file loads one that loads it', () => {
  const files = { A: { loads: ['a'] }, a: { loads: ['c', 'b'] }, c: { loads: [] }, b: { loads: ['c'], bytes: 90_000 } }
  assert.equal(joined(files), ['a c b'])
  assert.equal(joined({ ...files, B: { loads: ['c'] } }), ['a b'])
})

test.run()
