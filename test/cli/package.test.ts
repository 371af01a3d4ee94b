// engines: embedded; process: own
/** What the package brings along, as npm would pack it: everything that its own files ask for. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const { name, exports, bin, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const [{ files }] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], { encoding: 'utf8' }),
)
const packed = new Set<string>(files.map((file: { path: string }) => file.path))

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*(["'])([^"'\n]+)\1/g
const program = [...packed].filter(path => /\.m?js$/.test(path) && /^(?:bin|dist|fixtures\/agents)\//.test(path))
const imports = program.flatMap(path =>
  [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(([, , what]) => ({ path, what: what! })),
)

test('all that the package exports is in it', () => {
  const targets: string[] = [bin.marketplace, ...Object.values(exports).flatMap(flat)]
  assert.ok(targets.length > 7)
  for (const target of targets) assert.ok(packed.has(posix.normalize(target)), target)
})

test('every file of the program finds what it imports among the packed', () => {
  const own = imports.filter(({ what }) => what.startsWith('.'))
  assert.ok(own.length > 50)
  for (const { path, what } of own) {
    const target = posix.join(posix.dirname(path), what)
    assert.ok(packed.has(target), `${path} imports ${target}`)
  }
})

test('packages that stay outside are dependencies, and those taken in bring their licence', () => {
  const outside = imports.map(({ what }) => what).filter(what => /^(?:@[\w-]+\/)?[a-z][\w.-]*(?:\/|$)/.test(what))
  for (const what of outside) {
    const [scope, rest] = what.split('/')
    const known = what.startsWith('@') ? `${scope}/${rest}` : scope!
    assert.ok(known === name || known in dependencies, what)
  }
  assert.ok(outside.includes('commander'))
  assert.not.ok(outside.includes('zod'))
  assert.ok(packed.has('dist/bundle/zod.LICENSE'))
})

test('threads, the empty database and what else lies beside the program is packed, each thing once', () => {
  for (const path of ['dist/bundle/snapshot-worker.js', 'dist/bundle/empty.db', 'fixtures/agents/sample.mjs']) {
    assert.ok(packed.has(path), path)
  }
  assert.ok(existsSync('dist/market/tasks/tasks.js'))
  assert.not.ok(packed.has('dist/market/tasks/tasks.js'))
  assert.ok(packed.has('dist/open.d.ts'))
})

function flat(entry: unknown): string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry as Record<string, string>)
}

test.run()
