// engines: embedded; process: shared
/** Which variables the program of somebody else gets, from each command that starts one: what it needs, and no secret of an operator. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { devOf } from './dev-lines.ts'
import { inFolder, run } from './program.ts'

const OPERATOR = {
  MARKETPLACE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  MARKETPLACE_ADMIN_EMAIL: 'root@example.com',
  MARKETPLACE_ADMIN_PASSWORD: 'correct horse',
  MARKETPLACE_METRICS_TOKEN: 'a-token-of-the-operator-of-a-marketplace',
  MARKETPLACE_FILES: 'files',
  DATABASE_URL: 'of the agent',
}

/** Prints the names of its variables, ours and those of its own. */
const TELLS = `node -e 'console.error("has", Object.keys(process.env).filter(name => /^(?:MARKETPLACE_|DATABASE_URL$|PORT$)/.test(name)).sort().join(" ")); process.exit(3)'`
const AGENTS = 'DATABASE_URL MARKETPLACE_AGENT_ID MARKETPLACE_KEY MARKETPLACE_URL MARKETPLACE_WEBHOOK_SECRET PORT'
const OF_EXEC = ['ADMIN_KEY', 'AGENT_ID', 'BUILDER_KEY', 'BUYER_KEY', 'CREDENTIALS', 'KEY', 'URL', 'WEBHOOK_SECRET']

const namesIn = (text: string) => /\bhas (?<names>.*)$/m.exec(text)?.groups?.names

test(
  'an agent that dev runs',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral', '--run', TELLS], OPERATOR)
    const { line } = await dev.until('its variables', ({ line }) => /^has /.test(String(line)))
    assert.is(namesIn(String(line)), AGENTS)
    await dev.stop()
  }),
)

test(
  'an agent that conformance starts',
  inFolder(async folder => {
    const { err } = await run(['conformance', '--start', TELLS, '--only', 'conn.endpoint-200'], folder, OPERATOR)
    assert.is(namesIn(err), AGENTS, err)
  }),
)

test(
  'a command within exec, which may play every part',
  inFolder(async folder => {
    const { err } = await run(['exec', '--', 'sh', '-c', TELLS], folder, { TMPDIR: folder, ...OPERATOR })
    assert.is(namesIn(err), ['DATABASE_URL', ...OF_EXEC.map(name => `MARKETPLACE_${name}`)].join(' '), err)
  }),
)

test.run()
