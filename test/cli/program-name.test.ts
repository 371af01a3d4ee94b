// engines: embedded; process: shared
/** What is printed can be typed by whoever has no command `marketplace` on the path. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { commandPaths } from '../../src/cli/command-table.ts'
import { code, sources } from '../architecture/sources.ts'
import { run } from './program.ts'

const test = suite('the name of the program')
let folder: string
test.before(() => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-name-'))
  writeFileSync(
    join(folder, 'damaged.db'),
    'This is no database at all, and long enough to be looked at as one.'.repeat(9),
  )
})
test.after(() => rmSync(folder, { recursive: true, force: true }))

const NPX = { npm_command: 'exec' }

/** These may spell it: help and manual replace it, scripts complete it, and what is no line to type is a label. */
const spelled: Readonly<Record<string, RegExp>> = {
  'src/cli/table/': /./,
  'src/cli/command-table.ts': /./,
  'src/cli/parser.ts': /^ {2}\$ /,
  'src/cli/command-line/completion-scripts.ts': /./,
  'src/cli/mcp/server.ts': /lines that begin with/,
  'src/world/egress/front-answers.ts': /answeredBy/,
  'src/': /\bholder\b/,
}

test('no text spells a command line with a program that npx does not bring', async () => {
  const { commands } = await commandPaths()
  const words = [...new Set([...commands].map(path => path.split(' ')[0]!))]
  // One of a word alone, such as “the marketplace signs”, has an article before it.
  const bare = new RegExp(
    `(?<![-/\\w]|\\b(?:a|an|the|this|that|other|another|whole|its) )marketplace (?:${words.join('|')})(?![\\w])`,
  )
  const found = Object.entries(sources).flatMap(([path, text]) =>
    code(text)
      .split('\n')
      .filter(line => bare.test(line))
      .filter(line => !Object.entries(spelled).some(([where, what]) => path.startsWith(where) && what.test(line)))
      .map(line => `${path}: ${line.trim()}`),
  )
  assert.equal(found, [])
  assert.match('Run marketplace db check FILE', bare)
  assert.not.match('npx agent-marketplace db check FILE', bare)
})

test('what rooms below the command line say is told by the name that the reader has typed', async () => {
  const about = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
    const { out, err } = await run(args, folder, env)
    return out + err
  }
  const snapshot = ['db', 'snapshot', 'damaged.db']
  assert.match(await about(NPX, ...snapshot), 'look with: npx agent-marketplace db check')
  assert.match(await about({}, ...snapshot), 'look with: marketplace db check')
  assert.match(await about(NPX, 'dev', '--host', '0.0.0.0'), 'Use npx agent-marketplace serve there.')
  assert.match(await about({}, 'dev', '--host', '0.0.0.0'), 'Use marketplace serve there.')
})

test('whoever looks at a damaged file is not told to look at it', async () => {
  const { out, err } = await run(['db', 'check', 'damaged.db'], folder)
  assert.match(out, 'Restore a backup')
  assert.not.match(out + err, 'db check')
})

test('the script of completion says to npx what it takes to complete a word', async () => {
  const fetched = await run(['completion', 'bash'], folder, NPX)
  assert.match(fetched.err, 'npm install --global agent-marketplace')
  const installed = await run(['completion', 'bash'], folder)
  assert.is(installed.err, '')
  assert.is(installed.out, fetched.out)
})

test.run()
