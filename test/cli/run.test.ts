// engines: embedded; process: shared
/** dev --run: the agent has what it needs, starts anew when a file changes, loses nothing, and leaves nothing behind. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { watchFolders } from '../../src/cli/dev/folder-watch.ts'
import { StartedAgent } from '../../src/sim/agents/started-agent.ts'
import { until } from '../support/patience.ts'
import { delivered, devOf, hire } from './dev-lines.ts'
import { isAlive } from './process-life.ts'
import { inFolder, run, startOnTerminal } from './program.ts'

/** Knows nothing of the package: accepts and delivers by key, with fetch. */
const AGENT = `
import http from 'node:http'
const { MARKETPLACE_URL: url, MARKETPLACE_KEY: key, MARKETPLACE_AGENT_ID: id, PORT } = process.env
if (!/^whsec_/.test(process.env.MARKETPLACE_WEBHOOK_SECRET)) process.exit(9)
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
http.createServer(async (request, response) => {
  const { event, data } = JSON.parse(Buffer.concat(await request.toArray()))
  response.end()
  if (event !== 'task.submitted' || data.test) return
  const post = (deed, body) => fetch(url + '/api/agent/tasks/' + data.taskId + '/' + deed, { method: 'POST', headers, body: JSON.stringify(body) })
  await post('accept', {})
  await post('deliver', { content: 'done by ' + id })
}).listen(PORT, 'localhost', () => console.log('up as', process.pid))
console.error('a word on stderr')
`

test(
  'an agent that dev runs is hired, starts anew without losing a task, and ends with dev',
  inFolder(async folder => {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src', 'agent.mjs'), AGENT)
    const dev = await devOf(folder, ['--run', 'echo at the shell; node src/agent.mjs & wait', '--watch', 'src'])
    const mine = dev.ready.agents[1]!
    const upFrom = async (from: number) => {
      const { line } = await dev.until(
        'its port',
        ({ type, line }) => type === 'output' && /^up as/.test(`${line}`),
        from,
      )
      return Number(String(line).slice('up as '.length))
    }
    const first = await upFrom(0)
    await dev.until(
      'its stderr',
      ({ type, stream, agent }) => type === 'output' && stream === 'stderr' && agent === mine.slug,
    )
    await dev.said(/^my-agent can be hired/)
    await dev.until('a delivery', delivered(await hire(dev, mine.id)))
    await dev.until('the work', ({ type, to }) => type === 'task' && to === 'delivered')

    const before = dev.seen()
    writeFileSync(join(folder, 'src', 'agent.mjs'), AGENT.replace('up as', 'up as'))
    await dev.said(/^my-agent starts anew: src\/agent\.mjs has changed$/, before)
    const meanwhile = await hire(dev, mine.id)
    const second = await upFrom(before)
    assert.is.not(second, first)
    await until('the end of the first', () => !isAlive(first))
    await dev.until('what was sent meanwhile', delivered(meanwhile))
    await dev.stop()
    await until('the end of the second', () => !isAlive(second))
    const { agents } = JSON.parse(readFileSync(join(folder, '.marketplace', 'credentials.json'), 'utf8'))
    assert.is(agents[1].forwardTo, mine.forwardTo)
  }),
)

test(
  'an agent that listens on a port of its own is told of, and so is what helps where it ends',
  inFolder(async folder => {
    const elsewhere = `node -e "require('http').createServer().listen(0, () => console.log('up'))"`
    const dev = await devOf(folder, ['--run', elsewhere])
    await dev.until('its own words', ({ line }) => line === 'up')
    const { origin } = new URL(dev.ready.agents[1]!.forwardTo!)
    const words = `Nothing listens at ${origin}. The agent runs: PORT in its environment is where it has to listen.`
    assert.ok(String((await dev.said(/The agent runs/)).message).startsWith(words))
    assert.match((await run(['why', 'my-agent'], folder)).out, words)
    assert.match((await run(['simulate', 'buyer', 'my-agent'], folder)).err, 'PORT in its environment is where')
    await dev.stop()
    const short = await devOf(folder, ['--run', 'exit 7'])
    const again = 'Start dev again once it is mended; with --watch . it starts anew when a file changes.'
    assert.is((await short.said(/^exit 7 ended/)).message, `exit 7 ended with exit code 7. ${again}`)
    for (const line of [
      ['why', 'my-agent'],
      ['simulate', 'buyer', 'my-agent'],
    ]) {
      const { out, err } = await run(line, folder)
      assert.match(out + err, again)
      assert.not.match(out + err, 'Start the agent')
    }
    await short.stop()
  }),
)

test(
  'an agent that dev runs ends when the terminal is closed',
  inFolder(async folder => {
    const command = `'echo pid $$; exec sleep 100'`
    const dev = startOnTerminal(['dev', '--ephemeral', '--port', '0', '--run', command], folder)
    await until('the agent', () => /pid \d+/.test(dev.shown()))
    dev.close()
    await until('its end', () => !isAlive(Number(/pid (\d+)/.exec(dev.shown())![1])))
  }),
)

test('a process that ignores SIGTERM is killed with all that it has started; one that ends by itself is told', async () => {
  const lines: string[] = []
  const ends: string[] = []
  const options = {
    env: () => process.env,
    onLine: (_: string, line: string) => lines.push(line),
    onEnd: (how: string) => ends.push(how),
  }
  const stubborn = new StartedAgent({ ...options, command: `trap '' TERM; (trap '' TERM; sleep 60) & echo $!; wait` })
  stubborn.start()
  await until('a line', () => lines.length > 0)
  await Promise.all([stubborn.restart(), stubborn.restart()])
  await until('a second line', () => lines.length === 2)
  await until('the end of the first', () => !isAlive(Number(lines[0])))
  await stubborn.close()
  await until('the end of its child', () => !isAlive(Number(lines[1])))
  assert.equal(ends, [])
  const short = new StartedAgent({ ...options, command: 'printf "no end of line"; exit 3' })
  short.start()
  await until('its end', () => ends.length === 1 && lines.length === 3)
  assert.equal([ends, lines[2]], [['with exit code 3'], 'no end of line'])
  await short.close()
})

test('an agent below a shell that ends at once has its time to end too', async () => {
  const lines: string[] = []
  const options = { env: () => process.env, onLine: (_: string, line: string) => lines.push(line), onEnd: () => {} }
  const ends = `setTimeout(() => { console.log('finished'); process.exit() }, 200)`
  const agent = `process.on('SIGTERM', () => ${ends}); console.log('up'); setInterval(() => {}, 1000)`
  const patient = new StartedAgent({ ...options, command: `node -e "${agent}" & wait` })
  patient.start()
  await until('it is up', () => lines.length === 1)
  await patient.restart()
  await until('the next is up', () => lines.length >= 3)
  await patient.close()
  assert.equal(lines, ['up', 'finished', 'up', 'finished'])
})

test(
  'a change of a watched file is one call, in new folders too, but not in what programs write',
  inFolder(async folder => {
    for (const name of ['src', 'node_modules', 'dist']) mkdirSync(join(folder, name))
    const changes: string[] = []
    const end = watchFolders([folder], path => changes.push(path.slice(folder.length + 1)))
    const write = (...path: string[]) => writeFileSync(join(folder, ...path), 'x')
    for (let round = 0; round < 5; round++) write('src', 'a.js')
    await until('one change', () => changes.length === 1)
    mkdirSync(join(folder, 'src', 'new'))
    await until('a new folder', () => changes.length === 2)
    write('src', 'new', 'b.js')
    await until('a change within it', () => changes.length === 3)
    for (const name of ['node_modules', 'dist']) write(name, 'c.js')
    for (const name of ['agent.journal', 'agent.journal.new', 'a.db', 'a.db-wal', 'a.db.lock.1-f0']) write(name)
    mkdirSync(join(folder, 'a.db.files'))
    write('a.db.files', 'upload')
    await new Promise(resolve => setTimeout(resolve, 300))
    assert.equal(changes, ['src/a.js', 'src/new', 'src/new/b.js'])
    end()
    assert.throws(() => watchFolders([join(folder, 'nowhere')], () => {}), /--watch takes a folder/)
  }),
)

test.run()
