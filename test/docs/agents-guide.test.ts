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
  spawn('bash', ['--norc', '-euo', 'pipefail', '-c', code.replaceAll('3000', String(port))], {
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

/** A program that goes on. */
class Kept {
  readonly #child: ChildProcess
  #said = ''
  #heard = () => {}

  constructor(shell: Shell, code: string) {
    this.#child = launch(shell, code)
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', chunk => {
        this.#said += chunk
        this.#heard()
      })
    }
  }

  /** Waits until it has said a word. */
  says(word: string): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#heard = () => {
        if (this.#said.includes(word)) resolve()
      }
      this.#heard()
      this.#child.once('close', () => reject(new Error(`It ended: ${this.#said}`)))
    })
  }

  /** The shell and what it has started. */
  async end(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#child
    if (exitCode !== null || signalCode !== null) return
    const closed = once(this.#child, 'close')
    process.kill(-pid!, 'SIGTERM')
    await closed
  }
}

/** What a reader tries with any agent. */
async function tryAgent(shell: Shell): Promise<void> {
  const [emit] = shells('emit')
  const said = await run(shell, [emit!])
  assert.match(said, /^200\b/m, said)
  const wrong = { ...emit!, code: emit!.code.replace('/webhook\n', '/webhook --secret whsec_wrong || true\n') }
  assert.match(await run(shell, [wrong]), /^401\b/m)
  assert.is((await run(shell, shells('check'))).match(/✔/g)?.length, 5)
  const bought = await run(shell, shells('buy'))
  assert.match(bought, 'revision 1 of 1')
  assert.match(bought, 'is completed')
}

test('each block of the page is used here, and the agent in Python is the one of examples/', () => {
  const used = ['dev', 'agent', 'emit', 'check', 'buy', 'wire', 'time', 'why', 'wrong', 'hand', 'elsewhere']
  for (const { language, name } of blocks) assert.ok(language !== 'sh' || used.includes(name), name)
  assert.equal(
    files.map(({ name }) => name),
    ['agent.mjs', 'agent.py'],
  )
  assert.is(files[1]!.code, readFileSync('examples/python-agent.py', 'utf8'))
})

test(
  'the agents of the guide, in Node, in Python and by hand, pass the checks and earn money as they are printed',
  inFolder(async folder => {
    const shell: Shell = { folder, env: installed(folder), port: await freePort() }
    for (const { name, code } of files) writeFileSync(join(folder, name), code)
    const [running, forwarding] = shells('dev')
    const kept: Kept[] = []
    const keep = (code: string) => {
      kept.push(new Kept(shell, code))
      return kept.at(-1)!
    }
    try {
      const first = keep(running!.code)
      await first.says('my-agent can be hired')
      await tryAgent(shell)
      const moved = await run(shell, shells('time'))
      assert.match(moved, /^\+.* payment of task_\w+ clears$/m)
      assert.is(moved.match(/^Now .* ahead of real time\.$/gm)?.length, 2)
      await first.end()

      const second = keep(forwarding!.code)
      await second.says('my-agent is tested as soon as it is up')
      const agent = keep(shells('agent')[0]!.code)
      await agent.says('The agent listens')
      await second.says('my-agent can be hired')
      await tryAgent(shell)
      const why = shells('why')
      assert.match(await run(shell, why), '✔ The signature is right')
      const wrong = shells('wrong').map(block => ({ ...block, code: block.code.replace(/\n$/, ' || [ $? = 3 ]\n') }))
      const environment = { ...why[0]!, code: why[0]!.code.split('\n', 1)[0]!.concat('\n') }
      const page = readFileSync('docs/guides/agents.md', 'utf8')
      assert.ok(page.includes(await run(shell, [environment, ...wrong])))
      await agent.end()
      const byHand = await run(shell, shells('hand'))
      assert.match(byHand, '"content":"Half way."')
      assert.match(byHand, '"content":"Nearly there."')
      assert.match(byHand, '"status":"delivered"')
      assert.match(byHand, 'report.tgz')
      assert.match(await run(shell, shells('wire')), '"requestBody"')
      await run(shell, shells('elsewhere'))
      assert.match(readFileSync(join(folder, 'secret.txt'), 'utf8'), /^whsec_\S+\n$/)
    } finally {
      for (const one of kept.reverse()) await one.end()
    }
  }),
)

test.run()
