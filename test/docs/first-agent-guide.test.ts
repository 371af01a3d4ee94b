// engines: embedded; process: own; lengths: long
/** docs/guides/first-agent.md: each file and each line on it is run as it is printed, on terminals. Only the ports are others. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { inFolder, typeOnTerminal } from '../cli/program.ts'
import { until } from '../support/patience.ts'
import { blocksOf, installed, shows, unwrapped } from './guide.ts'

const blocks = blocksOf('docs/guides/first-agent.md')
const shells = (name: string) => blocks.filter(block => block.language === 'sh' && block.name === name)
const lineOf = (name: string, at = 0) => shells(name)[at]!.code.trimEnd()

test('each block of the page is used here', () => {
  const names = blocks.map(({ name }) => name)
  assert.equal(names, ['install', 'agent.mjs', 'dev', 'buy', 'plain.mjs', 'forward', 'start', 'buy'])
  assert.is(lineOf('install'), 'npm install agent-marketplace')
})

test(
  'from an empty folder an agent is hired and paid by two commands, and starts anew when it is changed',
  inFolder(async folder => {
    const env = installed(folder)
    const agent = blocks.find(({ name }) => name === 'agent.mjs')!.code
    writeFileSync(join(folder, 'agent.mjs'), agent)
    const dev = typeOnTerminal(`exec ${lineOf('dev')}`, folder, env)
    await shows(dev, 'my-agent can be hired:')
    const bought = typeOnTerminal(lineOf('buy'), folder, env)
    assert.is(await bought.ended, 0, bought.shown())
    assert.match(unwrapped(bought.shown()), /is completed\. Wallet 995\.00, held 0\.00/)
    writeFileSync(join(folder, 'agent.mjs'), `${agent}// changed\n`)
    await shows(dev, 'my-agent starts anew: agent.mjs has changed')
    await shows(dev, 'my-agent is back')
    await shows(dev, 'my-agent is sent a forged webhook')
    assert.is(dev.shown().split('forged webhook').length, 2, 'once, however often it starts anew')
    dev.interrupt()
    assert.is(await dev.ended, 0)
  }),
)

test(
  'a handler that knows nothing of the package is hired at once; without a word it stays unpaid, with one it is paid',
  inFolder(async folder => {
    const env = installed(folder)
    const port = String(await freePort())
    const here = (text: string) => text.replaceAll('3000', port)
    writeFileSync(join(folder, 'plain.mjs'), here(blocks.find(({ name }) => name === 'plain.mjs')!.code))
    const silent = `require('http').createServer((_, response) => response.end()).listen(${port}, () => console.log('up'))`
    writeFileSync(join(folder, 'silent.cjs'), silent)
    const handler = typeOnTerminal('exec node silent.cjs', folder, env)
    await shows(handler, 'up')
    const dev = typeOnTerminal(here(`exec ${lineOf('forward')}`), folder, env)
    await shows(dev, 'my-agent can be hired (it sent no callback yet)')
    await shows(dev, 'my-agent believes everybody: it took a')
    const hired = typeOnTerminal(`${lineOf('buy', 1)} --timeout 1`, folder, env)
    assert.is(await hired.ended, 1)
    assert.match(
      unwrapped(hired.shown()),
      /to my-agent for 5\.00, now held in escrow.*The agent did not accept within 1 s/,
    )
    await shows(dev, 'task.submitted')
    handler.interrupt()
    await handler.ended

    const plain = typeOnTerminal(`bash -c '${lineOf('start')}'`, folder, env)
    const answers = () => fetch(`http://localhost:${port}`, { method: 'POST', body: '{}' }).then(Boolean, () => false)
    await until('it listens', answers)
    const bought = typeOnTerminal(lineOf('buy', 1), folder, env)
    assert.is(await bought.ended, 0, bought.shown())
    assert.match(unwrapped(bought.shown()), 'is completed')
    plain.interrupt()
    await plain.ended
    dev.interrupt()
    assert.is(await dev.ended, 0)
  }),
)

test.run()
