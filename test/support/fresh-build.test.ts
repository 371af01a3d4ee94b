// engines: embedded; process: shared
/** The runner sees that the program was built before its source was last changed. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { staleSource } from './fresh-build.ts'

test('a build is stale if a source is younger than all of it, or if there is none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fresh-'))
  const [source, built] = [join(folder, 'src'), join(folder, 'bundle')]
  const write = (path: string, seconds: number) => {
    writeFileSync(path, '')
    utimesSync(path, seconds, seconds)
  }
  mkdirSync(join(source, 'deep'), { recursive: true })
  write(join(source, 'a.ts'), 10)
  assert.is(staleSource(source, built), join(source, 'a.ts'))
  mkdirSync(built)
  write(join(built, 'a.js'), 20)
  assert.is(staleSource(source, built), undefined)
  write(join(source, 'deep', 'b.ts'), 30)
  assert.is(staleSource(source, built), join(source, 'deep', 'b.ts'))
  rmSync(folder, { recursive: true })
})

test.run()
