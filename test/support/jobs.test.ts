// engines: embedded; process: shared
/** How a test file runs is what its first line says, and a file that says nothing is refused. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jobsOf, longestJobsOf } from './jobs.ts'
import type { Length } from './length.ts'

function jobsIn(files: Readonly<Record<string, string>>, isWanted = (_file: string) => true, length?: Length) {
  return inFolderOf(files, folder => jobsOf(isWanted, length, folder))
}

function inFolderOf<Found>(files: Readonly<Record<string, string>>, look: (folder: string) => Found): Found {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-jobs-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    return look(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the first line names the engines and the process; what takes longest goes first', () => {
  const jobs = jobsIn({
    'a.test.ts': '// engines: embedded, postgres; process: shared\n',
    'b.test.ts': '// engines: postgres; process: own\n',
    'c.ts': 'no test\n',
  })
  assert.equal(jobs, [
    { file: 'b.test.ts', engine: 'postgres', length: 'short', shares: false },
    { file: 'a.test.ts', engine: 'postgres', length: 'short', shares: true },
    { file: 'a.test.ts', engine: 'embedded', length: 'short', shares: true },
  ])
})

test('a file that says nothing of its length is short; a long one runs alone, or in a short form too', () => {
  const files = {
    'plain.test.ts': '// engines: embedded; process: own\n',
    'both.test.ts': '// engines: embedded; process: own; lengths: short, long\n',
    'long.test.ts': '// engines: embedded; process: own; lengths: long\n',
  }
  const namesOf = (length: Length) => jobsIn(files, () => true, length).map(({ file }) => file)
  assert.equal(namesOf('short'), ['both.test.ts', 'plain.test.ts'])
  assert.equal(namesOf('long'), ['both.test.ts', 'long.test.ts'])
})

test('a file that runs on Postgres at length does so in the long form alone', () => {
  const jobsWith = (more: string, length: Length) =>
    jobsIn({ 'a.test.ts': `// engines: embedded, postgres at length; process: own${more}\n` }, () => true, length)
  const enginesOf = (more: string, length: Length) => jobsWith(more, length).map(({ engine }) => engine)
  assert.equal(enginesOf('', 'short'), ['embedded'])
  assert.equal(enginesOf('', 'long'), ['postgres'])
  assert.equal(enginesOf('; lengths: short, long', 'short'), ['embedded'])
  assert.equal(enginesOf('; lengths: short, long', 'long'), ['postgres', 'embedded'])
})

test('each file runs once on each engine in its longest form, where that is asked for', () => {
  const files = {
    'store/plain.test.ts': '// engines: embedded, postgres; process: shared\n',
    'both.test.ts': '// engines: embedded; process: own; lengths: short, long\n',
    'at-length.test.ts': '// engines: embedded, postgres at length; process: own\n',
    'long.test.ts': '// engines: embedded; process: own; lengths: long\n',
  }
  const jobs = inFolderOf(files, folder => longestJobsOf(() => true, folder))
  assert.equal(jobs.map(({ file, engine, length }) => `${file} ${engine} ${length}`).sort(), [
    'at-length.test.ts embedded short',
    'at-length.test.ts postgres long',
    'both.test.ts embedded long',
    'long.test.ts embedded long',
    'store/plain.test.ts embedded short',
    'store/plain.test.ts narrow long',
    'store/plain.test.ts postgres short',
  ])
})

test('what runs on both engines in store and market, in a shared process, runs on a narrow Postgres at length', () => {
  const both = '// engines: embedded, postgres; process: shared\n'
  const files = {
    'store/a.test.ts': both,
    'market/tasks/b.test.ts': '// engines: embedded, postgres; process: shared; lengths: short, long\n',
    'market/g.test.ts': '// engines: postgres; process: shared\n',
    'web/c.test.ts': both,
    'store/d.test.ts': '// engines: embedded, postgres; process: own\n',
    'store/e.test.ts': '// engines: embedded, postgres at length; process: shared\n',
    'store/f.test.ts': '// engines: embedded; process: shared\n',
    'store/h.test.ts': '// engines: embedded, postgres and narrow at length; process: shared\n',
  }
  const narrow = (length: Length) =>
    jobsIn(files, () => true, length).flatMap(({ file, engine }) => (engine === 'narrow' ? [file] : []))
  assert.equal(narrow('short'), [])
  assert.equal(narrow('long').sort(), ['market/tasks/b.test.ts', 'store/a.test.ts', 'store/h.test.ts'])
})

test('a file that says nothing, too little, or something else is refused by its name', () => {
  for (const line of [
    '',
    '/** What it is for. */',
    '// engines: embedded',
    '// engines: ; process: own',
    '// engines: sqlite; process: own',
    '// engines: embedded; process: alone',
    '// engines: embedded at length; process: own',
    '// engines: embedded; process: own; lengths: short',
    '// engines: embedded; process: own; long',
    '/** What it is for. */\n// engines: embedded; process: own',
  ]) {
    const files = { 'good.test.ts': '// engines: embedded; process: own\n', 'bad.test.ts': `${line}\n` }
    assert.throws(
      () => jobsIn(files),
      (error: Error) => error.message.includes('bad.test.ts') && !error.message.includes('good.test.ts'),
      line,
    )
    assert.is(jobsIn(files, file => file.startsWith('good')).length, 1, line)
  }
})

test.run()
