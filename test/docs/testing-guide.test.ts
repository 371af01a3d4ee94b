// engines: embedded; process: own; lengths: long
/** docs/guides/testing.md: every block of code on it is run as it is printed. Only the agent's port is another. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { COMMAND, inFolder } from '../cli/program.ts'
import { blocksOf } from './guide.ts'

const PAGE = 'docs/guides/testing.md'
const blocks = blocksOf(PAGE)
const root = fileURLToPath(new URL('../..', import.meta.url))
const guide = readFileSync(join(root, PAGE), 'utf8')
const sectionsOf = (name: string) => blocks.filter(block => block.language === 'sh' && block.name === name)

/** A folder like that of somebody who has installed the package. */
function installed(folder: string, port: number) {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'agent-marketplace'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'marketplace'), `#!/bin/sh\nexec ${COMMAND} "$@"\n`, { mode: 0o755 })
  for (const { language, name, code } of blocks) if (language === 'js') writeFileSync(join(folder, name), code)
  const { PATH, HOME } = process.env
  const env = { PATH: `${join(folder, 'bin')}:${PATH}`, HOME, NO_COLOR: '1', MARKETPLACE_PORT: '0' }
  return (code: string) => {
    const script = code.replaceAll('3000', String(port))
    return spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: folder, env, detached: true })
  }
}

async function said(child: ChildProcess, wanted = 0): Promise<string> {
  let words = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', chunk => (words += chunk))
  const [code] = await once(child, 'close')
  assert.is(code, wanted, words)
  return words
}

/** Resolves once it has said `word`. */
async function kept(child: ChildProcess, word: string): Promise<ChildProcess> {
  let words = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', chunk => {
        words += chunk
        if (words.includes(word)) resolve()
      })
    }
    child.once('close', () => reject(new Error(`It ended: ${words}`)))
  })
  return child
}

async function end(child: ChildProcess) {
  const closed = once(child, 'close')
  process.kill(-child.pid!, 'SIGTERM')
  await closed
}

test(
  'what the guide shows works as it is printed: emit, deliveries, exec, doctor',
  inFolder(async folder => {
    const bash = installed(folder, await freePort())
    const all = (name: string) => sectionsOf(name).map(({ code }) => code)
    await said(bash(all('secret').join('')))
    const agent = await kept(bash(all('agent').join('')), 'The agent listens')
    const [first, changed, kinds] = all('emit')
    const shown = blockShown('200 \\{')
    assert.ok((await said(bash(first!))).startsWith(shown))
    assert.match(await said(bash(changed!)), /5 of 5 as they should be\.[\s\S]*\| curl -sS -i/)
    assert.not.match(await said(bash(kinds!)), '✖')
    await end(agent)

    assert.match(await said(bash(all('exec').join(''))), /# pass 1\n[\s\S]*is completed[\s\S]*task\.approved/)

    const dev = await kept(bash(all('dev').join('')), 'my-agent')
    await said(bash('until marketplace agents show my-agent --json | grep -q \'"visible":true\'; do sleep 0.2; done'))
    const log = await said(bash(all('log').join('')))
    assert.match(log, 'is completed')
    assert.match(log, /^cause|^status +delivered$/m)
    assert.match(log, /✔ dlv_\w+ was delivered\./)
    assert.match(await said(bash(all('doctor').join(''))), /✔ callback +my-agent answers webhooks/)
    await end(dev)
    await end(await kept(bash(all('personas').join('')), 'easy hires my-agent'))
    assert.match(await said(bash(all('crowd').join(''))), /picky +\d+ +completed[\s\S]*Ledger: sound/)

    const used = ['secret', 'agent', 'emit', 'dev', 'log', 'personas', 'crowd', 'exec', 'doctor']
    for (const { language, name } of blocks) assert.ok(language !== 'sh' || used.includes(name), name)
  }),
)

/** A block without a language: what a command prints. */
function blockShown(beginning: string): string {
  const [, block] = new RegExp(`^\`\`\`\\n(${beginning}[\\s\\S]*?)^\`\`\`$`, 'm').exec(guide) ?? []
  assert.ok(block)
  return block!
}

test.run()
