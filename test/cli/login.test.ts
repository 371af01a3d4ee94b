// engines: embedded; process: own
/** What login asks for on a terminal, and what it takes from flags. Source: A-51. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { signIn, startServe } from './deployment.ts'
import { answerOf, inFolder, PROGRAM, run, typeInto } from './program.ts'

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
    assert.is(byFlag.code, 0, byFlag.err)
    const lost = await run([...login, '--recovery-code', recoveryCodes[0]], folder, {}, 'correct horse')
    assert.is(lost.code, 0, lost.err)
    const shown = await typeInto(`${process.execPath} ${PROGRAM} login --url ${url} --email root@example.com`, folder, [
      ['Password:', 'correct horse\r'],
      ['recovery code:', `${recoveryCodes[1]}\r`],
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
    const shown = await typeInto(`${process.execPath} ${PROGRAM} login --url ${url}`, folder, [
      ['Email:', 'root@example.com\r'],
      ['Password:', 'correct horse\r'],
    ])
    assert.match(shown, `Signed in at ${url} as root@example.com, an administrator.`)
    assert.not.match(shown, 'correct horse')
    assert.is((await run(['whoami', '--url', url], folder)).code, 0)
    await stop()
  }),
)

test.run()
