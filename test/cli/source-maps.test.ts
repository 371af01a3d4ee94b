// engines: embedded; process: shared
/** Stacks of the built program name files and lines of src, wherever somebody asks for stacks. Source: A-225. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, runAlone, start } from './program.ts'

/** Every frame of ours is one of src, and the line that it names says what the stack says. */
function assertNamed(stack: string, file: string, code: string): void {
  assert.not.match(stack, /dist\/bundle/)
  const line = new RegExp(`/${file.replaceAll('.', '\\.')}:(\\d+):\\d+\\)?$`, 'm').exec(stack)?.[1]
  assert.ok(line, stack)
  assert.match(readFileSync(file, 'utf8').split('\n')[Number(line) - 1]!, code)
}

test(
  'a command that fails prints a stack of src for whoever asks, and a sentence for all others',
  inFolder(async folder => {
    const said = async (env: NodeJS.ProcessEnv) => (await runAlone(['db', 'check', 'none.db'], folder, env)).err
    const asked = await said({ MARKETPLACE_DEBUG: '1' })
    assertNamed(asked, 'src/cli/commands/db.ts', 'throw new')
    assert.match(asked, /^Error: There is no database at none\.db\.$/m)
    assert.is(await said({}), 'There is no database at none.db.\n')
  }),
)

test(
  'a fault of a server is logged with a stack of src, so that a report of it can be read',
  inFolder(async folder => {
    // A fault that no request can make: the runtime itself fails for one word.
    const broken = `const { normalize } = String.prototype; String.prototype.normalize = function (form) {
      if (String(this).includes('kaputt')) throw new TypeError('it broke'); return normalize.call(this, form) }`
    const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(broken)}"` }
    const { child, ended, firstLine } = start(['serve', '--port', '0', '--json'], folder, env)
    const { url } = JSON.parse(await firstLine)
    const { status } = await fetch(`${url}/api/agents?q=kaputt`)
    child.kill('SIGTERM')
    const { out } = await ended
    assert.is(status, 500)
    const fault = out.split('\n').find(line => line.includes('it broke'))
    assertNamed(JSON.parse(fault!).stack, 'src/market/agents/search-words.ts', 'normalize')
  }),
)

test.run()
