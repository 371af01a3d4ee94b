// engines: embedded; process: shared
/** What a start of the built program leaves out. Source. */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as devRecords from '../../src/api/dev-records.ts'
import * as exchangeRecords from '../../src/api/exchange-records.ts'
import * as moneyRecords from '../../src/api/money-records.ts'
import * as records from '../../src/api/records.ts'
import { id, time } from '../../src/api/shapes.ts'
import * as z from '../../src/api/zod.ts'
import { inFolder, start } from './program.ts'

const NOTING = new URL('../../test/cli/looked-through.mjs', import.meta.url)

/** The files in CommonJS that Node has looked through when the first word is on stdout. */
async function looked(args: readonly string[], folder: string, first = ''): Promise<string[]> {
  const before = `data:text/javascript,${encodeURIComponent(first)}`
  const { child, ended, firstLine } = start(args, folder, { NODE_OPTIONS: `--import "${NOTING}" --import "${before}"` })
  await firstLine
  if (args[0] === 'dev') child.kill('SIGTERM')
  const [until, ...after] = (await ended).err.split('first word\n')
  assert.is(after.length, 1)
  return [...until!.matchAll(/^looked through (.*)$/gm)].map(([, url]) => url!)
}

test(
  'Node looks through no package for its names, neither for a help nor until a dev is ready',
  inFolder(async folder => {
    const commander = pathToFileURL(createRequire(import.meta.url).resolve('commander')).href
    assert.equal(await looked(['--help'], folder, `await import(${JSON.stringify(commander)})`), [commander])
    assert.equal(await looked(['--help'], folder), [])
    assert.equal(await looked(['dev', '--ephemeral', '--json', '--port', '0'], folder), [])
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

test('a shape that is plain is made once', () => {
  assert.is(z.string(), z.string())
  assert.is(z.int(), z.int())
  assert.is.not(z.string({ error: 'is no text' }), z.string())
  assert.is(time(), time())
  assert.is(id(), id())
})

test('a shape of a record is made when it is asked for, and once: documents know it by its name', () => {
  for (const [name, made] of Object.entries({ ...records, ...moneyRecords, ...devRecords, ...exchangeRecords })) {
    assert.not.ok(made instanceof z.ZodType, name)
    if (typeof made === 'function') assert.is(made(), made(), name)
  }
})

test('what the bundle takes of Node is not imported', () => {
  for (const name of loads.keys()) {
    const imported = readFileSync(`dist/bundle/${name}`, 'utf8').matchAll(/\b(?:from|import)\s*"(node:[^"]+)"/g)
    // By which packages are required.
    for (const [, module] of imported) assert.is(module, 'node:module', name)
  }
})

test('no files of the bundle load each other', () => {
  for (const [name, others] of loads) assert.not.ok(reachedFrom(others).has(name), name)
})

test.run()
