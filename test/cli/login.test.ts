// engines: embedded; process: shared
/** What login asks for on a terminal, and what it takes from flags. Source: A-51. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { signIn, startServe } from './deployment.ts'
import { answerOf, COMMAND, inFolder, run, typeInto } from './program.ts'

test(
  'an account with a second factor signs in with its code, by flag or asked for on a terminal, or with a recovery code',
  inFolder(async folder => {
    const { url, stop } = await startServe(folder)
    const there = { MARKETPLACE_URL: url }
    await signIn(folder, url)
    const begun = await answerOf(
      ['call', 'POST', '/api/auth/totp', '-d', '{"password":"correct horse"}'],
      folder,
      there,
    )
    // Each code counts once, so the second use takes the one of the next half minute.
    const codeOf = (steps: number) => totpCode(begun.data.secret, Date.now() + steps * 30_000)
    const confirm = ['call', 'POST', '/api/auth/totp/confirm', '-d', `{"code":"${codeOf(0)}"}`]
    const { recoveryCodes } = (await answerOf(confirm, folder, there)).data
    const blind = await signIn(folder, url)
    assert.is(blind.code, 4)
    assert.match(JSON.parse(blind.out).hint, '--totp 123456')
    const login = ['login', '--url', url, '--email', 'root@example.com', '--password-stdin']
    const byFlag = await run([...login, '--totp', codeOf(1)], folder, {}, 'correct horse')
    assert.equal(byFlag, {
      code: 0,
      out: `Signed in at ${url} as root@example.com, an administrator.\n`,
      err: `Commands for this address use the session where no key is given. It ends with: marketplace logout --url ${url}\n`,
    })
    const lost = await run([...login, '--recovery-code', recoveryCodes[0]], folder, {}, 'correct horse')
    assert.is(lost.code, 0, lost.err)
    const shown = await typeInto(`${COMMAND} login --url ${url} --email root@example.com`, folder, [
      ['Password:', 'correct horse\r'],
      ['recovery code:', ` ${recoveryCodes[1]} \r`],
    ])
    assert.match(shown, 'Signed in')
    await stop()
  }),
)

test(
  'on a terminal login asks, and shows nothing of the password; anywhere else it says what to give',
  inFolder(async folder => {
    const { url, stop } = await startServe(folder)
    const blind = await run(['login', '--url', url], folder)
    assert.is(blind.code, 2)
    assert.match(blind.err, '--password-stdin')
    const shown = await typeInto(`${COMMAND} login --url ${url}`, folder, [
      ['Email:', 'root@example.com\r'],
      ['Password:', 'correct horse\r'],
    ])
    assert.match(shown, `Signed in at ${url} as root@example.com, an administrator.`)
    assert.not.match(shown, 'correct horse')
    assert.is((await run(['whoami', '--url', url], folder)).code, 0)
    await stop()
  }),
)

test(
  'profiles keep several accounts at one address, each in a file for its user alone, and only the user chooses one',
  inFolder(async folder => {
    const { url, stop } = await startServe(folder)
    await signIn(folder, url)
    const words = ['register', '--profile', 'ann', '--url', url, '--email', 'ann@example.com', '--name', 'Ann']
    const made = await run([...words, '--password-stdin'], folder, {}, 'correct horse battery')
    assert.equal(made, { code: 0, out: `ann@example.com has an account at ${url}, and is signed in.\n`, err: '' })
    const who = async (args: string[], env: NodeJS.ProcessEnv = {}) =>
      (await answerOf(['whoami', ...args], folder, env)).data?.user.email
    assert.is(await who(['--profile', 'ann']), 'ann@example.com')
    assert.is(await who(['--url', url]), 'root@example.com')
    assert.is(await who([], { MARKETPLACE_PROFILE: 'ann', MARKETPLACE_KEY: 'svc_not_for_this' }), 'ann@example.com')
    writeFileSync(join(folder, '.env'), 'MARKETPLACE_PROFILE=ann\n')
    assert.is(await who(['--url', url]), 'root@example.com', 'a file of the folder chooses no account')

    const sessions = join(folder, 'config', 'marketplace', 'sessions')
    assert.is(statSync(join(sessions, 'profile-ann.json')).mode & 0o777, 0o600)
    const { items } = (await answerOf(['profiles'], folder)).data
    const shown = (await run(['profiles'], folder)).out.split('\n').map(row => row.split(/ {2,}/))
    assert.equal(shown[0], ['PROFILE', 'ADDRESS', 'EMAIL'])
    assert.equal(shown.slice(1, 3).sort(), [
      ['-', url, 'root@example.com'],
      ['ann', url, 'ann@example.com'],
    ])
    assert.equal(items.map(({ profile }: { profile: string | null }) => profile).sort(), ['ann', null])
    for (const name of ['nobody', '../ann', 'A b']) {
      const refused = await answerOf(['whoami', '--profile', name], folder)
      assert.is(refused.code, 2, name)
      assert.match(refused.error, /no profile nobody|--profile takes a name/)
    }
    assert.is((await answerOf(['whoami', '--profile', 'ann', '--url', 'http://127.0.0.1:1'], folder)).code, 4)
    assert.is((await run(['logout', '--profile', 'ann'], folder)).code, 0)
    assert.is(await who(['--url', url]), 'root@example.com')
    assert.not(existsSync(join(sessions, 'profile-ann.json')))
    await stop()
  }),
)

test(
  'who only buys is told what is wrong with own tasks, and how to become a builder where that is needed',
  inFolder(async folder => {
    const { url, stop } = await startServe(folder)
    const words = ['register', '--profile', 'ann', '--url', url, '--email', 'ann@example.com', '--name', 'Ann']
    assert.is((await run([...words, '--password-stdin'], folder, {}, 'correct horse battery')).code, 0)
    const why = await run(['why', '--profile', 'ann'], folder)
    assert.is(why.code, 0, why.err)
    assert.match(why.err, 'Nothing that the marketplace knows of is wrong')
    const key = ['keys', 'create', '--name', 'laptop', '--profile', 'ann']
    const refused = await run(key, folder)
    assert.is(refused.code, 4)
    const [, next = ''] = /^Become one: marketplace (.+)$/m.exec(refused.err) ?? []
    assert.is((await run(next.split(' '), folder)).code, 0, refused.err)
    assert.is((await run(key, folder)).code, 0)
    await stop()
  }),
)

test.run()
