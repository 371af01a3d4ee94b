// engines: embedded; process: own
/** README.md: what its demo prints is what demo prints, and its examples run as they are printed. Only dev's port is another. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, PROGRAM, run, startDev } from '../cli/program.ts'
import { blocksOf } from './guide.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = blocksOf('README.md')
const exec = promisify(execFile)

test('it fits two screens, and everything it leads to is there', () => {
  assert.ok(readme.trimEnd().split('\n').length <= 76)
  for (const page of [
    'README.md',
    'docs/architecture.md',
    'docs/guides/agents.md',
    'docs/guides/deploy.md',
    'docs/guides/operate.md',
    'docs/guides/scale.md',
  ]) {
    const folder = join(root, page, '..')
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      assert.ok(existsSync(join(folder, link!)), `${page}: ${link}`)
  }
})

test(
  'demo prints what the README shows of it, in this order',
  inFolder(async folder => {
    const masked = (text: string) => text.replace(/:\d{4,5}\b/g, ':PORT').replace(/in [\d.]+ s\./, 'in SECONDS s.')
    const shown = masked(/^```\n(✔[\s\S]+?)^```$/m.exec(readme)![1]!)
      .trimEnd()
      .split('\n')
      .filter(line => !line.startsWith('…'))
    const { code, out } = await run(['demo'], folder)
    assert.is(code, 0)
    const lines = masked(out).trimEnd().split('\n')
    assert.equal(
      lines.filter(line => shown.includes(line)),
      shown,
    )
  }),
)

test(
  'the examples for a running dev do what they say',
  inFolder(async folder => {
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
    symlinkSync(root, join(folder, 'node_modules', 'agent-marketplace'))
    writeFileSync(join(folder, 'node_modules', '.bin', 'marketplace'), `#!/bin/sh\nexec node ${PROGRAM} "$@"\n`, {
      mode: 0o755,
    })
    const { ready, stop } = await startDev(folder)
    const here = (code: string) => code.replaceAll('http://127.0.0.1:4000', ready.url)
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' }
    const shell = blocks.find(({ name }) => name === 'dev')!
    const { stdout } = await exec('bash', ['--norc', '-euo', 'pipefail', '-c', here(shell.code)], { cwd: folder, env })
    assert.match(stdout, 'is completed')
    assert.match(stdout, '"heldBalance":0')
    assert.match(stdout, '"slug":"sample-agent"')

    const script = blocks.find(({ code }) => code.includes('createClient'))!
    const given = {
      agentId: ready.agents[0].id,
      title: 'From the README',
      description: 'An order that is given by a program.',
    }
    const names = Object.entries(given).map(([name, value]) => `const ${name} = ${JSON.stringify(value)}\n`)
    writeFileSync(join(folder, 'buy.mjs'), names.join('') + here(script.code))
    const key = { MARKETPLACE_KEY: ready.accounts.buyer.apiKey }
    const bought = await exec('node', ['buy.mjs'], { cwd: folder, env: { ...env, ...key } })
    assert.match(bought.stdout, /pending|in_progress|delivered/)
    await stop()
  }),
)

test.run()
