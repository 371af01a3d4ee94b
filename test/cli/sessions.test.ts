// engines: embedded; process: shared
/** Signing in from the command line, and what a session is used for. Source: A-51. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { signIn, startServe } from './deployment.ts'
import { answerOf, inFolder, run, startDev } from './program.ts'

const sessionsIn = (folder: string) => join(folder, 'config', 'marketplace', 'sessions')

/** As if it had ended long ago: the marketplace does not know it. */
function spoilSession(folder: string): void {
  const path = join(sessionsIn(folder), readdirSync(sessionsIn(folder))[0]!)
  const saved = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...saved, cookie: `session=${'0'.repeat(43)}` }))
}

test(
  'login keeps a session for nobody else to read, whoami tells it, and logout ends it at the marketplace too',
  inFolder(async folder => {
    const { url, stop } = await startServe(folder)
    const there = { MARKETPLACE_URL: url }
    const nobody = await run(['whoami'], folder, there)
    assert.is(nobody.code, 4)
    assert.match(nobody.err, `Sign in: marketplace login --url ${url}`)

    const wrong = await signIn(folder, url, 'not the password')
    assert.is(wrong.code, 4)
    assert.equal(readdirSync(sessionsIn(folder)), [], 'the folder was tried before anybody typed a password')

    const { code, out, err } = await signIn(folder, url)
    assert.is(code, 0, err)
    assert.is(JSON.parse(out).data.user.isAdmin, true)
    const [name] = readdirSync(sessionsIn(folder))
    const path = join(sessionsIn(folder), name!)
    assert.is(statSync(path).mode & 0o777, 0o600)
    assert.is(statSync(sessionsIn(folder)).mode & 0o777, 0o700)
    const { cookie } = JSON.parse(readFileSync(path, 'utf8'))
    assert.not.match(out, cookie.split('=')[1])
    assert.match((await run(['whoami'], folder, there)).out, 'root@example.com (Administrator, administrator)')

    // A new profile is of the address that commands use here; a login with one that is known, of its own.
    const asNew = ['--email', 'ann@market.example', '--name', 'Ann', '--password-stdin', '--profile', 'shop']
    const made = await run(['register', ...asNew], folder, there, 'a long pass phrase 9\n')
    assert.is(made.code, 0, made.err)
    assert.match((await run(['whoami', '--profile', 'shop'], folder)).out, `ann@market.example (Ann) at ${url}`)
    const nowhere = await run(['register', ...asNew.slice(0, -1), 'other'], folder, {}, 'a long pass phrase 9\n')
    assert.match(
      nowhere.err,
      `Which marketplace? For the one that you are signed in at type export MARKETPLACE_URL=${url}, or`,
    )
    assert.is((await run(['logout', '--profile', 'shop'], folder)).code, 0)

    // A second login leaves one session, not two.
    assert.is((await signIn(folder, url)).code, 0)
    assert.equal(readdirSync(sessionsIn(folder)), [name])
    const asWith = (value: string) => fetch(`${url}/api/auth/me`, { headers: { cookie: value } })
    assert.is((await asWith(cookie)).status, 401, 'the session before has ended')

    const current = JSON.parse(readFileSync(path, 'utf8')).cookie
    assert.is((await asWith(current)).status, 200)
    assert.match((await run(['logout'], folder, there)).out, 'signed out')
    assert.is((await asWith(current)).status, 401)
    assert.equal(readdirSync(sessionsIn(folder)), [])
    assert.is((await run(['logout'], folder, there)).code, 1)
    await stop()
  }),
)

test(
  'a session is used where no key is given, and for what takes no key; one that has ended says how to sign in again',
  inFolder(async folder => {
    const { url, stop } = await startServe(folder)
    const there = { MARKETPLACE_URL: url }
    const deposit = ['call', 'POST', '/api/wallet/deposit', '-d', '{"amount": 5000}']
    const early = await answerOf(deposit, folder, there)
    assert.is(early.code, 4)
    assert.match(early.err, `marketplace login --url ${url}`)
    await signIn(folder, url)
    assert.is((await answerOf(deposit, folder, there)).data.status, 'pending')
    const [waiting] = (await answerOf(['admin', 'deposits', 'list', '--status', 'pending'], folder, there)).data.items
    const settled = await answerOf(['admin', 'deposits', 'confirm', waiting.id, '--yes'], folder, there)
    assert.is(settled.data.status, 'completed')

    for (const args of [
      ['admin', 'users', 'list'],
      ['call', 'GET', '/api/wallet'],
    ]) {
      await signIn(folder, url)
      spoilSession(folder)
      const ended = await run(args, folder, there)
      assert.is(ended.code, 4, ended.err)
      assert.match(
        ended.err,
        `The session of root@example.com has ended. Sign in again: marketplace login --url ${url}`,
      )
      assert.equal(readdirSync(sessionsIn(folder)), [])
    }
    await stop()
  }),
)

test(
  'the next step that a simulated dispute prints works as it is printed, and leaves no session behind',
  inFolder(async folder => {
    const { ready, stop } = await startDev(folder)
    const { out, err } = await run(['simulate', 'buyer', 'sample-agent', '--outcome', 'dispute'], folder)
    const line = /^An administrator decides it: marketplace (admin resolve .*)$/m.exec(err)!
    assert.ok(line, out + err)
    const resolved = await answerOf([...line[1]!.split(' '), '--yes'], folder)
    assert.is(resolved.code, 0, resolved.err)
    assert.is(resolved.data.status, 'cancelled')
    assert.is(resolved.data.dispute.outcome, 'refund')
    assert.not(existsSync(join(folder, 'config')))

    // By itself with a dev's people; what is named goes before.
    assert.is((await answerOf(['wallet', 'deposit', '50.00'], folder)).data.status, 'completed')
    const { key } = (
      await answerOf(['call', 'POST', '/api/my/api-keys', '-d', '{"name":"x"}', '--as', 'buyer'], folder)
    ).data
    const named = await answerOf(['wallet', 'deposit', '50.00', '--key', key], folder)
    assert.is(named.code, 4)
    assert.match(named.hint, `marketplace login --url ${ready.url}`)
    await stop()
  }),
)

test(
  'the keys of a folder whose dev has ended are not sent to the dev of another that has its port',
  inFolder(async folder => {
    const port = ['--port', String(await freePort())]
    const mine = await startDev(folder, {}, port)
    await mine.stop()
    const other = await startDev(folder, {}, [...port, '--ephemeral'])
    const { code, err } = await run(['agents', 'list'], folder)
    assert.is(code, 4, err)
    assert.match(err, 'not the dev of this folder, which has ended, so nothing was sent')
    assert.not.match((await other.stop()).out, '/api/my/agents')
  }),
)

test(
  'a session is not sent to another marketplace that has the address',
  inFolder(async folder => {
    const port = ['--port', String(await freePort())]
    const first = await startServe(folder, port)
    await signIn(folder, first.url)
    await first.stop()
    const second = await startServe(folder, [...port, '--db', 'other.db'])
    const { code, err } = await run(['admin', 'users', 'list', '--url', first.url], folder)
    assert.is(code, 4)
    assert.match(err, 'not the one that you signed in to, so nothing was sent')
    assert.match(err, `marketplace login --url ${first.url}`)
    const out = JSON.parse((await run(['logout', '--url', first.url, '--json'], folder)).out)
    assert.is(out.data.ended, false, 'the other is not told')
    assert.not.match((await second.stop()).out, 'logout')
    const third = await startServe(folder, port)
    assert.is((await signIn(folder, third.url)).code, 0)
    assert.is((await run(['whoami', '--url', third.url], folder)).code, 0, 'the same database is the same marketplace')
    await third.stop()
  }),
)

test.run()
