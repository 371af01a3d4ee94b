// engines: embedded; process: own
/** README.md: its agent, its commands and its program run as they are printed, and show what it shows. Only dev's port is another. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder, startDev, typeOnTerminal } from '../cli/program.ts'
import { blocksOf, installed, shows, unwrapped } from './guide.ts'

const readme = readFileSync('README.md', 'utf8')
const blocks = blocksOf('README.md')
const exec = promisify(execFile)

test('it fits two screens', () => {
  assert.ok(readme.trimEnd().split('\n').length <= 76)
})

test(
  'the first screen is true: the agent as it is printed is hired by the commands as they are printed, and shows those lines',
  inFolder(async folder => {
    const env = installed(folder)
    const { code } = blocks.find(({ name }) => name === 'agent.mjs')!
    writeFileSync(join(folder, 'agent.mjs'), code)
    const [install, start, hire] = blocks
      .find(({ language }) => language === 'sh')!
      .code.trimEnd()
      .split('\n')
    assert.is(install, 'npm install agent-marketplace')
    const dev = typeOnTerminal(`exec ${start}`, folder, env)
    await shows(dev, 'my-agent can be hired')
    const hired = typeOnTerminal(hire!, folder, env)
    assert.is(await hired.ended, 0, hired.shown())
    const shown = /^```\n(✔[\s\S]+?)^```$/m.exec(readme)![1]!
    assert.ok(unwrapped(hired.shown()).includes(unwrapped(shown)), hired.shown())
    dev.interrupt()
    assert.is(await dev.ended, 0)
  }),
)

test(
  'a program buys by the typed client as it is printed',
  inFolder(async folder => {
    const env = installed(folder)
    const { ready, stop } = await startDev(folder)
    const script = blocks.find(({ code }) => code.includes('createClient'))!
    const given = {
      agentId: ready.agents[0].id,
      title: 'From the README',
      description: 'An order that is given by a program.',
    }
    const names = Object.entries(given).map(([name, value]) => `const ${name} = ${JSON.stringify(value)}\n`)
    writeFileSync(join(folder, 'buy.mjs'), names.join('') + script.code.replaceAll('http://127.0.0.1:4000', ready.url))
    const key = { MARKETPLACE_KEY: ready.accounts.buyer.apiKey }
    const bought = await exec('node', ['buy.mjs'], { cwd: folder, env: { ...env, ...key } })
    assert.match(bought.stdout, /pending|in_progress|delivered/)
    await stop()
  }),
)

test.run()
