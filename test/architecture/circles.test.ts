// engines: embedded; process: shared
/** No circle of imports. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Files, localImports, sources } from './sources.ts'

/** Each circle of imports once, by the file in it that comes first. */
function circles(files: Files): string[] {
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const walk = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' > '))
      return
    }
    state.set(path, 'open')
    for (const target of localImports(path, files[path] ?? '')) walk(target, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of Object.keys(files)) walk(path, [])
  return found
}

test('no file imports itself by way of others, by types neither', () => {
  assert.equal(circles(sources), [])
  const circle = { 'src/a.ts': "import type { B } from './b.ts'", 'src/b.ts': "import { a } from './a.ts'" }
  assert.equal(circles(circle), ['src/a.ts > src/b.ts > src/a.ts'])
})

test.run()
