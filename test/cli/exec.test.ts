// engines: embedded; process: shared; lengths: short, long
/** An ephemeral marketplace around a command: what the command gets, how it ends, and that nothing is left of either. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { shellLine } from '../support/shell-line.ts'
import { isAlive } from './process-life.ts'
import { COMMAND, inFolder, run, start } from './program.ts'

const WEBHOOKS = new URL('../../dist/bundle/webhooks.js', import.meta.url).href

const exec = (
  folder: string,
  command: readonly string[],
  flags: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
) =>
  run(['exec', ...flags, '--', ...command], folder, {
    TMPDIR: folder,
    MARKETPLACE_BASE_URL: 'https://elsewhere.example',
    ...more,
  })

const left = (folder: string) => readdirSync(folder).filter(name => /^marketplace-/.test(name))

test(
  'the command gets a marketplace with accounts and an agent, and its exit code is handed on',
  inFolder(async folder => {
    writeFileSync(
      join(folder, 'test.mjs'),
      `const { MARKETPLACE_URL: url, MARKETPLACE_BUYER_KEY: key, MARKETPLACE_AGENT_ID: agentId, MARKETPLACE_CREDENTIALS: all } = process.env
       const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
       const call = async (path, body) => (await (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()).data
       const task = await call('/api/tasks', { agentId, title: 'A task', description: 'Something for a test to do.', agreedPrice: 500 })
       let { status } = await call('/api/tasks/' + task.id + '/submit')
       while (status !== 'delivered') {
         await new Promise(resolve => setTimeout(resolve, 20))
         status = (await (await fetch(url + '/api/tasks/' + task.id, { headers })).json()).data.status
       }
       console.log(status, JSON.parse(all).accounts.buyer.apiKey === key, process.argv[2])
       process.exit(7)`,
    )
    const { code, out, err } = await exec(folder, [process.execPath, 'test.mjs', '--json'], ['--log', 'market.log'])
    assert.is(code, 7, err)
    assert.is(out, 'delivered true --json\n')
    assert.is(err, '')
    const entries = readFileSync(join(folder, 'market.log'), 'utf8').trim().split('\n')
    assert.ok(entries.some(line => JSON.parse(line).type === 'webhook'))
    assert.equal(left(folder), [])
  }),
)

if (isLong)
  test(
    'the command reaches the marketplace past a proxy of its environment',
    inFolder(async folder => {
      const script = 'curl --silent --show-error --fail "$MARKETPLACE_URL/healthz" && echo "$NO_PROXY"'
      const proxy = { http_proxy: 'http://127.0.0.1:9', NO_PROXY: 'intranet.example' }
      const { code, out, err } = await run(['exec', '--', 'sh', '-c', script], folder, { TMPDIR: folder, ...proxy })
      assert.is(code, 0, err)
      assert.match(out, 'intranet.example,localhost,127.0.0.1')
    }),
  )

if (isLong)
  test(
    'an agent that the command starts is listed once it answers, and hired',
    inFolder(async folder => {
      const port = await freePort()
      writeFileSync(
        join(folder, 'agent.mjs'),
        `import { createServer } from 'node:http'
         import { agentHandler } from ${JSON.stringify(WEBHOOKS)}
         const { PORT, MARKETPLACE_WEBHOOK_SECRET: secret } = process.env
         const onTask = async (_event, reply) => { await reply.accept(); await reply.deliver('From the agent of the test.') }
         createServer(agentHandler({ secret, onTask })).listen(PORT, '127.0.0.1')`,
      )
      const program = COMMAND
      const script = `${shellLine(process.execPath)} agent.mjs & until ${program} simulate buyer my-agent; do sleep 0.3; done`
      const flags = ['--agent', `my-agent=http://127.0.0.1:${port}/webhook`]
      const { code, out, err } = await exec(folder, ['sh', '-c', script], flags)
      assert.is(code, 0, err)
      assert.match(out, 'delivered: From the agent of the test.')
      assert.equal(left(folder), [])
    }),
  )

if (isLong) {
  test(
    'commands of marketplace find it, each with the key of its part',
    inFolder(async folder => {
      const here = COMMAND
      const lines = [
        `${here} simulate buyer sample-agent`,
        `${here} deliveries list sample-agent --limit 1`,
        `${here} admin users update $(${here} whoami --as buyer --json | node -pe 'JSON.parse(fs.readFileSync(0)).data.user.id') --suspend`,
      ]
      const { code, out, err } = await exec(folder, ['sh', '-ec', lines.join('\n')])
      assert.is(code, 0, err)
      assert.match(out, 'is completed')
      assert.match(out, 'task.approved')
      assert.match(out, /suspended +yes/)
    }),
  )
}

const ROUGH = [
  [['./data.txt'], 126, './data.txt EACCES'],
  [['sh', '-c', 'kill -s KILL $$'], 137, ''],
  [[], 1, "missing required argument 'command'"],
] as const

test(
  'a command that can not be started, or is none, has the exit code of a shell and a sentence',
  inFolder(async folder => {
    writeFileSync(join(folder, 'data.txt'), '')
    // To the system a folder of that name is no command that is missing, but one that may not be run; so is a PATH that it may not search.
    mkdirSync(join(folder, 'bin', 'no-such-program'), { recursive: true })
    const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
    for (const [command, wanted, words] of [
      [['no-such-program'], 127, 'no-such-program ENOENT: is the command spelled right, and installed?'],
      ...(isLong ? ROUGH : []),
    ] as const) {
      const { code, err, out } = await exec(folder, command, [], env)
      assert.is(code, command.length === 0 ? 2 : wanted, err)
      assert.match(err, words)
      assert.is(out, '')
    }
    assert.is((await exec(folder, ['true'], ['--log', 'absent/market.log'])).code, 2)
    const logged = await exec(folder, ['true'], ['--json'])
    for (const line of logged.err.trim().split('\n')) JSON.parse(line)
    assert.equal(left(folder), [])
  }),
)

/** Prints its own id and that of a process that it leaves behind. */
const LINGERING = ['sh', '-c', 'sleep 60 & echo $$ $!; trap "exit 9" TERM; wait']
const idsIn = (line: string) => line.split(' ').map(Number) as [number, number]

test(
  'a signal goes to the command, and what that has started ends with it',
  inFolder(async folder => {
    const started = start(['exec', '--', ...LINGERING], folder, { TMPDIR: folder })
    const ids = idsIn(await started.firstLine)
    started.child.kill('SIGTERM')
    assert.is((await started.ended).code, 9)
    for (const id of ids) assert.not.ok(isAlive(id))
    const quick = await exec(folder, ['sh', '-c', 'sleep 60 >/dev/null 2>&1 & echo $!'])
    assert.not.ok(isAlive(Number(quick.out)))
    assert.equal(left(folder), [])
  }),
)

test(
  'nothing is left when exec itself is killed',
  inFolder(async folder => {
    const { child, firstLine } = start(['exec', '--', ...LINGERING], folder, { TMPDIR: folder })
    const ids = idsIn(await firstLine)
    assert.ok(ids.every(isAlive))
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until('the end of the command', () => !ids.some(isAlive))
    await until(
      () => `an empty folder, but ${left(folder)}`,
      () => left(folder).length === 0,
    )
    assert.ok(existsSync(folder))
  }),
)

test.run()
