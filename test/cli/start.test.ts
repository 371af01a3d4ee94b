// engines: embedded; process: own
/** What a start of the built program leaves out. Source: A-276, A-279. */
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, start } from './program.ts'

/** Says, at the first word on stdout, whether Node has looked through a package for the names that it exports. */
const SAYING = `const { stdout } = process, { write } = stdout; stdout.write = (...args) => {
  console.error('looked:', process.moduleLoadList.some(name => name.includes('cjs-module-lexer')))
  stdout.write = write; return stdout.write(...args) }`

async function looks(args: readonly string[], folder: string, first = ''): Promise<string | undefined> {
  const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(`${first};${SAYING}`)}"` }
  const { child, ended, firstLine } = start(args, folder, env)
  await firstLine
  if (args[0] === 'dev') child.kill('SIGTERM')
  return /looked: (\w+)/.exec((await ended).err)?.[1]
}

test(
  'Node looks through no package for its names, neither for a help nor until a dev is ready',
  inFolder(async folder => {
    const imported = `await import(${JSON.stringify(import.meta.resolve('commander'))})`
    assert.is(await looks(['--help'], folder, imported), 'true')
    assert.is(await looks(['--help'], folder), 'false')
    assert.is(await looks(['dev', '--ephemeral', '--json', '--port', '0'], folder), 'false')
  }),
)

/** Files of the bundle, and which of them each loads before it runs. */
const loads = new Map(
  readdirSync('dist/bundle')
    .filter(name => name.endsWith('.js'))
    .map(name => [
      name,
      [...readFileSync(`dist/bundle/${name}`, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)].map(
        ([, other]) => other!,
      ),
    ]),
)

function reachedFrom(names: Iterable<string>): Set<string> {
  const reached = new Set(names)
  for (const name of reached) for (const next of loads.get(name) ?? []) reached.add(next)
  return reached
}

test('a start of dev loads few files of the bundle, and one for help fewer', () => {
  const main = reachedFrom(['main.js'])
  assert.ok(main.size > 1 && main.size <= 6, `${main.size}`)
  const started = [...loads.keys()].filter(name => /^(?:main|running-\w+|dev-\w+)\.js$/.test(name))
  assert.is(started.length, 3)
  const dev = reachedFrom(started)
  assert.ok(dev.size > main.size && dev.size <= 30, `${dev.size}`)
})

test('no files of the bundle load each other', () => {
  for (const [name, others] of loads) assert.not.ok(reachedFrom(others).has(name), name)
})

test.run()
