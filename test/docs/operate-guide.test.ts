// engines: postgres; process: own; lengths: long
/** docs/guides/operate.md: every command on it is run as it is printed, against a real serve; ports and the Postgres are other ones. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { openSqlite } from '../../src/store/embedded/database.ts'
import { COMMAND, inFolder, run, startDev } from '../cli/program.ts'
import { freshDatabase } from '../support/databases.ts'
import { blocksOf } from './guide.ts'

const PASSWORD = 'a long one that nobody guesses'
const blocks = blocksOf('docs/guides/operate.md')

interface Shell {
  folder: string
  env: NodeJS.ProcessEnv
  /** As the page prints it, and as it is here. */
  instead: readonly (readonly [printed: string, here: string])[]
}

const here = ({ instead }: Shell, text: string) =>
  instead.reduce((code, [printed, other]) => code.replaceAll(printed, other), text)

function launch(shell: Shell, name: string): { child: ChildProcess; said: () => string } {
  const block = blocks.find(({ language, name: other }) => language === 'sh' && other === name)
  assert.ok(block, name)
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', here(shell, block!.code)], {
    cwd: shell.folder,
    env: shell.env,
    detached: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk))
  return { child, said: () => said }
}

/** What it prints; throws all of it if it ends with anything but 0. */
async function type(shell: Shell, name: string): Promise<string> {
  const { child, said } = launch(shell, name)
  const [code] = await once(child, 'close')
  assert.is(code, 0, `${name}: ${said()}`)
  return said()
}

/** A server that goes on; ready when its log says that it has started. */
async function keep(shell: Shell, name: string): Promise<() => Promise<void>> {
  const { child, said } = launch(shell, name)
  const ended = once(child, 'close')
  const isOver = ended.then(() => true)
  while (!said().includes('"type":"start"')) {
    const over = await Promise.race([isOver, new Promise(resolve => setTimeout(resolve, 50))])
    if (over) throw new Error(`${name} ended: ${said()}`)
  }
  return async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM')
    await ended
    for (const line of said().trim().split('\n')) if (line.startsWith('{')) assert.type(JSON.parse(line).type, 'string')
    assert.match(said(), '"type":"stop","reason":"SIGTERM"')
  }
}

/** A marketplace that has been used: a dispute is open, an agent waits for its review. */
async function furnish(folder: string): Promise<{ email: string; password: string }> {
  const { ready, stop } = await startDev(folder)
  const bought = await run(['simulate', 'buyer', 'sample-agent', '--outcome', 'dispute'], folder)
  assert.is(bought.code, 0, bought.err)
  await stop()
  const db = await openSqlite({ file: join(folder, '.marketplace', 'dev.db'), onFatal: assert.unreachable })
  await db.write(tx => tx.run("UPDATE agents SET status = 'pending_review' WHERE slug = 'silent-analyst'"))
  await db.close()
  assert.is((await run(['db', 'backup', '.marketplace/dev.db', 'marketplace.db'], folder)).code, 0)
  copyFileSync(join(folder, '.marketplace', 'dev.db.key'), join(folder, 'marketplace.db.key'))
  return ready.accounts.buyer
}

/** With the code that an authenticator would show. */
async function turnOnFactor(shell: Shell): Promise<void> {
  const { data } = JSON.parse(await type(shell, 'factor'))
  const code = totpCode(data.secret, Date.now())
  const confirmed = await type({ ...shell, instead: [...shell.instead, ['123456', code]] }, 'confirm')
  assert.match(confirmed, '"recoveryCodes"')
  const blind = await run(['login', '--email', 'root@market.example', '--password-stdin'], shell.folder, {}, PASSWORD)
  assert.is(blind.code, 4)
  assert.match(blind.err, '--totp 123456')
}

test(
  'the first day of an operator goes as the page says, command by command',
  inFolder(async folder => {
    const buyer = await furnish(folder)
    const { url, drop } = await freshDatabase()
    const ports = [await freePort(), await freePort(), await freePort()].map(String)
    const shell: Shell = {
      folder,
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        HOME: folder,
        NO_COLOR: '1',
      },
      instead: [
        ['4000', ports[0]!],
        ['4001', ports[1]!],
        ['9464', ports[2]!],
        ['postgres://market@db.example/market', url],
      ],
    }
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin', 'marketplace'), `#!/bin/sh\nexec ${COMMAND} "$@"\n`, { mode: 0o755 })
    for (const { language, name, code } of blocks)
      if (language !== 'sh') writeFileSync(join(folder, name), here(shell, code))
    writeFileSync(join(folder, 'password.txt'), `${PASSWORD}\n`)

    const stop = await keep(shell, 'serve')
    try {
      assert.match(await type(shell, 'health'), /^marketplace_ledger_cents/m)
      assert.match(await type(shell, 'login'), 'root@market.example (Administrator, administrator)')
      assert.match(await type(shell, 'approve'), /^status +verified$/m)
      const asBuyer = { XDG_CONFIG_HOME: join(folder, 'buyer') }
      const signIn = ['login', '--email', buyer.email, '--password-stdin']
      assert.is((await run(signIn, folder, asBuyer, buyer.password)).code, 0)
      assert.is((await run(['wallet', 'deposit', '50.00'], folder, asBuyer)).code, 0)
      assert.match(await type(shell, 'deposit'), /^ok +yes$/m)
      assert.match(await type(shell, 'dispute'), /^dispute status +resolved$/m)
      assert.match(await type(shell, 'people'), /^identity verified +yes$/m)
      assert.match(await type(shell, 'usage'), /^files limit/m)
      assert.match(await type(shell, 'backup'), 'backups/monday.db is whole')
      assert.match(await type(shell, 'drill'), /^ok +yes$/m)
    } finally {
      await stop()
    }
    assert.match(await type(shell, 'upgrade'), 'marketplace.db is up to date')
    const moved = await keep(shell, 'move')
    assert.match(await type(shell, 'login'), 'administrator')
    await turnOnFactor(shell)
    await moved()
    await drop()
    const used = [
      'serve',
      'health',
      'login',
      'approve',
      'deposit',
      'dispute',
      'people',
      'backup',
      'drill',
      'upgrade',
      'factor',
      'confirm',
      'usage',
      'move',
    ]
    assert.equal(
      blocks.filter(({ language }) => language === 'sh').map(({ name }) => name),
      used,
    )
  }),
)

test.run()
