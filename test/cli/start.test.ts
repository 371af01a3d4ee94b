// engines: embedded; process: own
/** What a start of the built program leaves out. Source: A-276. */
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

test.run()
