// engines: embedded; process: shared; lengths: short, long
/** What dev keeps in its folder and hands to others, what it says where it can't start, and when its reader has gone. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readOwner } from '../../src/store/embedded/lock-owner.ts'
import { isLong } from '../support/length.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'
import { devOf } from './dev-lines.ts'
import { isAlive } from './process-life.ts'
import { COMMAND, inFolder, PROGRAM, run, runRefused, typeOnTerminal } from './program.ts'

test(
  'the environment of an agent is printed for each shell, alone; the folder is no part of a repository; a reset asks',
  inFolder(async folder => {
    const early = await run(['dev', '--print-env'], folder)
    assert.is(early.code, 2)
    assert.match(early.err, 'There is no dev in this folder yet')
    const dev = await devOf(folder, [
      '--agent',
      'writer=localhost:9',
      '--public-url',
      'http://host.docker.internal:4000',
    ])
    const writer = dev.ready.agents[1]!
    const expected = {
      MARKETPLACE_URL: 'http://host.docker.internal:4000',
      MARKETPLACE_KEY: dev.ready.accounts.builder!.apiKey,
      MARKETPLACE_AGENT_ID: writer.id,
      MARKETPLACE_WEBHOOK_SECRET: writer.webhookSecret,
      PORT: '9',
    }
    const of = async (...args: string[]) => (await run(['dev', '--print-env', ...args], folder)).out
    assert.equal(JSON.parse(await of('json')), expected)
    writeFileSync(join(folder, 'env.sh'), await of())
    const seen = execFileSync('sh', ['-c', '. ./env.sh; node -p "JSON.stringify(process.env)"'], { cwd: folder })
    for (const [name, value] of Object.entries(expected)) assert.is(JSON.parse(String(seen))[name], value)
    assert.match(await of('fish'), `set -gx MARKETPLACE_AGENT_ID '${writer.id}'\n`)
    assert.match(await of('pwsh'), `$env:PORT = '9'\n`)
    const sample = JSON.parse(await of('json', '--agent', 'sample-agent'))
    assert.is(sample.MARKETPLACE_AGENT_ID, dev.ready.agents[0]!.id)
    assert.not('PORT' in sample)
    const emit = (to: string) => run(['emit', 'task.submitted', '--to', to], folder)
    assert.match((await emit('http://127.0.0.1:9/')).err, 'Nothing listens', 'its secret is known by this address too')
    assert.match((await emit(writer.webhookUrl)).err, /^No answer from http:\/\/localhost:9\/: Nothing listens/)
    const wrong = await runRefused(['dev', '--public-url', 'nothing'], folder)
    assert.match(wrong.err, '--public-url takes an address')
    assert.match((await run(['dev', '--print-env', 'zsh'], folder)).err, '--print-env takes sh, fish, pwsh, json')
    assert.match(
      (await run(['dev', '--print-env', '--agent', 'nobody'], folder)).err,
      'Its agents: sample-agent, writer',
    )
    assert.is(readFileSync(join(folder, '.marketplace', '.gitignore'), 'utf8'), '*\n')

    const reset = ['dev', '--reset', '--port', '0', '--json']
    assert.match((await runRefused(reset, folder)).err, 'The dev of this folder is running at http://')
    await dev.stop()
    const asked = await runRefused(reset, folder)
    assert.is(asked.code, 2)
    assert.match(asked.err, /deletes all accounts, .*dev\.db\.journal, .*credentials\.json\. Add --yes/)
    const again = await devOf(folder, ['--reset', '--yes'])
    assert.is.not(again.ready.accounts.buyer!.apiKey, dev.ready.accounts.buyer!.apiKey)
    assert.is(again.ready.agents.length, 1)
    await again.stop()
    writeFileSync(join(folder, 'foreign.db'), '')
    const foreign = await runRefused(['dev', '--db', 'foreign.db', '--reset', '--yes'], folder)
    assert.match(foreign.err, 'No dev has kept its credentials for foreign.db')
    assert.ok(existsSync(join(folder, 'foreign.db')))
  }),
)

test(
  'a dev with another database of the folder has a file of its own, and nobody’s keys are overwritten',
  inFolder(async folder => {
    const usual = join(folder, '.marketplace', 'credentials.json')
    const filesOf = () => readdirSync(join(folder, '.marketplace')).filter(name => name.endsWith('.json'))
    const accountsOf = async (...args: string[]) => {
      const dev = await devOf(folder, args)
      await dev.stop()
      return dev.ready.accounts
    }
    const first = await accountsOf()
    const text = JSON.parse(readFileSync(usual, 'utf8')).accounts
    const second = await accountsOf('--db', '.marketplace/other.db')
    assert.equal(JSON.parse(readFileSync(usual, 'utf8')).accounts, text)
    assert.is(filesOf().length, 2)
    assert.not.equal(second, first)
    assert.equal(await accountsOf('--db', './.marketplace/dev.db'), first, 'the same file by another name')
    if (isLong) assert.equal(await accountsOf(), first)
    if (isLong) assert.equal(await accountsOf('--db', '.marketplace/other.db'), second)
    assert.is(filesOf().length, 2)
  }),
)

test(
  'a port in use is told with its owner and the next free one; a folder that can not be written, with what avoids it',
  inFolder(async folder => {
    const { port, close } = await listen(() => {})
    const taken = await runRefused(['dev', '--ephemeral', '--port', String(port)], folder)
    assert.is(taken.code, 1)
    assert.match(taken.err, new RegExp(`^Port ${port} is in use; .*: .*node.* has it \\(process ${process.pid}\\)\\.`))
    assert.match(taken.err, /^The next free port: --port \d+$/m)
    const metrics = ['serve', '--db', ':memory:', '--port', '0', '--metrics-port', String(port)]
    const ofMetrics = await runRefused(metrics, folder)
    assert.is(ofMetrics.code, 1)
    const [, next] = /^.*The next free port: --metrics-port (\d+)/m.exec(ofMetrics.err) ?? []
    assert.ok(Number(next) > port, ofMetrics.err)
    await close()

    writeFileSync(join(folder, 'file'), '')
    const nowhere = await runRefused(['dev', '--db', 'file/dev.db', '--port', '0'], folder)
    assert.is(nowhere.code, 1)
    assert.match(nowhere.err, "dev can't keep its state in file: a part of its path is no folder.")
    assert.match(nowhere.err, '--ephemeral keeps nothing')
  }),
)

test(
  'dev ends when the program that reads its output has ended, and gives back its port',
  inFolder(async folder => {
    const shell = spawn('sh', ['-c', `${COMMAND} dev --ephemeral --port 0 --log-level error | head -1`], {
      cwd: folder,
    })
    let shown = ''
    shell.stdout.on('data', chunk => (shown += chunk))
    const [code] = await once(shell, 'close')
    assert.is(code, 0)
    assert.match(shown, /^At http:\/\/127\.0\.0\.1:\d+ \(nothing is kept; with --json its first line has all keys\)\n/)
    assert.equal(readdirSync(folder), [])
  }),
)

test(
  'a quiet dev ends when the Node program that has started it has died',
  inFolder(async folder => {
    const args = 'dev --ephemeral --port 0 --json --log-level error'
    const parent = spawn(
      process.execPath,
      [
        '-e',
        `require('node:child_process').spawn(${JSON.stringify(`${COMMAND} ${args}`)}, { shell: true }).stdout.pipe(process.stdout)`,
      ],
      { cwd: folder },
    )
    let shown = ''
    parent.stdout.on('data', chunk => (shown += chunk))
    await until('the ready line', () => /"pid":\d+/.test(shown))
    const pid = Number(/"pid":(\d+)/.exec(shown)![1])
    assert.ok(isAlive(pid))
    parent.kill('SIGKILL')
    await until('its end', () => !isAlive(pid))
  }),
)

if (isLong) {
  test(
    'a dev that npx has started on a terminal ends with its agent once npx is killed; one that was given a session of its own goes on',
    inFolder(async folder => {
      mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
      symlinkSync(PROGRAM, join(folder, 'node_modules', '.bin', 'marketplace'))
      writeFileSync(join(folder, 'package.json'), '{}')
      writeFileSync(
        join(folder, 'agent.cjs'),
        `require('node:fs').writeFileSync('agent.pid', String(process.pid)); require('node:http').createServer().listen(process.env.PORT)`,
      )
      const npm = { npm_config_update_notifier: 'false', npm_config_cache: join(folder, 'npm') }
      const terminal = typeOnTerminal('exec sh -i', folder, npm)
      const isBegun = (db: string) => async () => Boolean(await ownerOf(db))
      const ownerOf = (db: string) => readOwner(join(folder, `${db}.lock`))
      const killsNpx = (pid: number) => {
        const group = execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' })
        assert.is.not(Number(group), pid)
        process.kill(Number(group), 'SIGKILL')
      }
      terminal.press('setsid npx marketplace dev --port 0 --db given.db &\n')
      await until(() => `a dev: ${terminal.shown()}`, isBegun('given.db'))
      terminal.press('npx marketplace dev --port 0 --db typed.db --run "node agent.cjs"\n')
      await until(
        () => `another: ${terminal.shown()}`,
        () => existsSync(join(folder, 'agent.pid')),
      )
      const [given, typed] = [(await ownerOf('given.db'))!.pid, (await ownerOf('typed.db'))!.pid]
      const agent = Number(readFileSync(join(folder, 'agent.pid'), 'utf8'))
      assert.equal([given, typed, agent].map(isAlive), [true, true, true])
      killsNpx(given)
      killsNpx(typed)
      await until('the end of what was typed', () => !isAlive(typed) && !isAlive(agent))
      assert.ok(isAlive(given))
      process.kill(given, 'SIGTERM')
      await until('the end of what was given away', () => !isAlive(given))
      terminal.close()
      await terminal.ended
    }),
  )
}

test(
  'what is sent alone to an agent that dev passes webhooks on to goes there, past the certificate of dev',
  inFolder(async folder => {
    const broken = await listen((_, response) => response.writeHead(500).end())
    const to = `${broken.url}/`
    const dev = await devOf(folder, ['--agent', `broken=${to}`, '--agent', 'away=localhost:9'])
    const unhired = await runRefused(['simulate', 'buyer', 'away'], folder)
    assert.match(
      unhired.err,
      /^away can't be hired: Nothing listens at http:\/\/localhost:9\.\nStart the agent, and look at host and port in its URL\.\n/,
    )
    const away = (await runRefused(['test-connection', 'away'], folder)).err
    assert.match(away, 'Start the agent, and look at host and port in its URL.\n')
    await dev.said(/^broken is not listed/)
    const advice = (await runRefused(['test-connection', 'broken'], folder)).err
    assert.match(advice, 'The agent answered 500; exactly 200 is needed.')
    const [, alone = ''] = /^ {2}Next: marketplace (emit .*)$/m.exec(advice) ?? []
    assert.match(alone, /^emit task\.submitted --to https:\/\/broken\.localhost:\d+\/webhook$/)
    const emitted = await run(alone.split(' '), folder)
    assert.is(emitted.code, 1, emitted.out + emitted.err)
    assert.match(emitted.out, '500')
    await run(['agents', 'deactivate', 'broken', '--yes'], folder)
    const hired = await runRefused(['simulate', 'buyer', 'broken'], folder)
    assert.match(hired.err, "broken can't be hired: ")
    const sample = (...words: string[]) => run([...words, 'sample-agent'], folder)
    await sample('agents', 'deactivate')
    assert.match(
      (await sample('test-connection')).err,
      'The test passed. Next: marketplace agents reactivate sample-agent',
    )
    await broken.close()
    await dev.stop()
  }),
)

test.run()
