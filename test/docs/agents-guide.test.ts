// engines: embedded; process: own
/** docs/guides/agents.md: every block of code on it is run as it is printed, against a real dev. Only the agent's port is another. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../cli/program.ts'
import { type Block, blocksOf, freePort, installed } from './guide.ts'

const blocks = blocksOf('docs/guides/agents.md')

const shells = (name: string) => blocks.filter(block => block.language === 'sh' && block.name === name)
const files = blocks.filter(({ language }) => language !== 'sh')

interface Shell {
  folder: string
  env: NodeJS.ProcessEnv
  port: number
}

const launch = ({ folder, env, port }: Shell, code: string) =>
  spawn('bash', ['--norc', '-euo', 'pipefail', '-c', code.replaceAll('8443', String(port))], {
    cwd: folder,
    env,
    detached: true,
  })

/** What it prints; throws all of it if it ends with anything but 0. */
async function run(shell: Shell, of: readonly Block[]): Promise<string> {
  const child = launch(shell, of.map(({ code }) => code).join(''))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  const [code] = await once(child, 'close')
  assert.is(code, 0, said)
  return said
}

/** A program that goes on; ready when it has said `word`. */
async function keep(shell: Shell, code: string, word: string): Promise<ChildProcess> {
  const child = launch(shell, code)
  let said = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        said += chunk
        if (said.includes(word)) resolve()
      })
    }
    child.once('close', () => reject(new Error(`It ended: ${said}`)))
  })
  return child
}

/** The shell and what it has started. */
async function end(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  process.kill(-child.pid!, 'SIGTERM')
  await closed
}

test(
  'the agents of the guide, in Node, in Python and by hand, pass the checks and earn money as they are printed',
  inFolder(async folder => {
    const shell: Shell = { folder, env: installed(folder), port: await freePort() }
    for (const { name, code } of files) writeFileSync(join(folder, name), code.replaceAll('8443', String(shell.port)))
    const [certificate, make] = shells('')
    const kept: ChildProcess[] = []
    try {
      await run(shell, [certificate!])
      kept.push(await keep(shell, shells('dev')[0]!.code, 'Everything that happens follows'))
      await run(shell, [make!])
      const [emit] = shells('emit')
      const agents = shells('agent')
      assert.is(agents.length, 2)
      for (const [at, agent] of agents.entries()) {
        const running = await keep(shell, agent.code, 'The agent listens')
        kept.push(running)
        assert.match(await run(shell, [emit!]), /^200 /m)
        const wrong = { ...emit!, code: emit!.code.replace('"$(cat secret.txt)"', 'whsec_wrong || true') }
        assert.match(await run(shell, [wrong]), /^401 /m)
        assert.is((await run(shell, shells('check'))).match(/✔/g)?.length, 5)
        if (at === 0) assert.match(await run(shell, shells('publish')), '"status": "verified"')
        const bought = await run(shell, shells('buy'))
        assert.match(bought, 'revision 1 of 1')
        assert.match(bought, 'is completed')
        if (at === 0) {
          const moved = await run(shell, shells('time'))
          assert.match(moved, /^\+.* payment of task_\w+ clears$/m)
          assert.is(moved.match(/^Now .* ahead of real time\.$/gm)?.length, 2)
        }
        await end(running)
      }
      const used = ['', 'dev', 'agent', 'emit', 'check', 'publish', 'buy', 'wire', 'time', 'why', 'wrong', 'hand']
      for (const { language, name } of blocks) assert.ok(language !== 'sh' || used.includes(name), name)
      assert.match(await run(shell, shells('why')), '✔ The signature is right')
      const wrong = shells('wrong').map(block => ({ ...block, code: block.code.replace(/\n$/, ' || [ $? = 3 ]\n') }))
      assert.ok(readFileSync('docs/guides/agents.md', 'utf8').includes(await run(shell, wrong)))
      const byHand = await run(shell, shells('hand'))
      assert.match(byHand, '"content":"Half way."')
      assert.match(byHand, '"content":"Nearly there."')
      assert.match(byHand, '"status":"delivered"')
      assert.match(byHand, 'report.tgz')
      assert.match(await run(shell, shells('wire')), '"requestBody"')
    } finally {
      for (const child of kept.reverse()) await end(child)
    }
  }),
)

test.run()
