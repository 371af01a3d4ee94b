// engines: embedded; process: own
/** The coverage table is whole: its tests exist, its mutations can be made, the page says what the rows say. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bundleTests, type Runner } from '../support/bundle.ts'
import { coveragePage, PAGE } from './page.ts'
import { heldBy } from './row.ts'
import { rows } from './rows.ts'

test('no row is without a test, and none stands there twice', () => {
  for (const row of rows) {
    assert.ok(heldBy(row).length > 0, row[0])
    for (const { file, names } of heldBy(row)) assert.ok(file !== '.test.ts' && names, row[0])
  }
  const all = rows.map(([what]) => what)
  assert.equal(all, [...new Set(all)])
})

/** In the order of the files. */
async function titlesIn(files: readonly string[]): Promise<string[][]> {
  const runner: Runner = { worker: 'test/coverage/names.ts', uvu: 'test/mutation/uvu.ts', sourceMaps: false }
  const { workerArguments, pathOf, remove } = await bundleTests(files, runner)
  try {
    const out = execFileSync(process.execPath, [...workerArguments, ...files.map(pathOf)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 10_000_000,
    })
    return JSON.parse(out.trim().split('\n').at(-1)!)
  } finally {
    remove()
  }
}

test('every test that a row names exists', async () => {
  const files = [...new Set(rows.flatMap(heldBy).map(({ file }) => file))]
  const titles = await titlesIn(files)
  const known = Object.fromEntries(files.map((file, i) => [file, titles[i]!]))
  for (const row of rows) {
    for (const { file, names } of heldBy(row)) {
      assert.ok(
        known[file]!.some(name => name.startsWith(names)),
        `${row[0]}: no test in ${file} begins with: ${names}`,
      )
    }
  }
})

test('docs/coverage.md is what the rows say', () => {
  assert.ok(readFileSync(PAGE, 'utf8') === coveragePage(), `${PAGE} is stale: run npm run coverage`)
})

test.run()
