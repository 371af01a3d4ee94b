// engines: embedded; process: shared
/** The mails to an account, word by word: a reader of one has nothing else. Source: A-192. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { resetMail } from '../../../src/market/accounts/password-reset.ts'
import { keysEnded, noticeMail } from '../../../src/market/accounts/security-notices.ts'
import { insertNotice, type SecurityNoticeRow } from '../../../src/store/tables/accounts/mails.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const said: Record<SecurityNoticeRow['kind'], [detail: string | null, subject: string, sentence: string]> = {
  password_changed: [
    keysEnded(0),
    'Your password was changed',
    'The password of your account was changed, and every other session ended. Its API keys go on working.',
  ],
  password_reset: [
    keysEnded(2),
    'Your password was set anew',
    'The password of your account was set anew with the token of a mail, and every session ended. Its API keys were deleted: 2.',
  ],
  api_key_created: [
    'lap\r\n\u2028top',
    'An API key was created',
    'An API key was created for your account, under the name “lap top”.',
  ],
  second_factor_on: [
    null,
    'Signing in takes a second factor now',
    'A second factor was turned on for your account, and every other session ended.',
  ],
  second_factor_off: [
    ' by an administrator',
    'Signing in takes no second factor any more',
    'The second factor of your account was turned off by an administrator.',
  ],
  recovery_code_used: [
    '9',
    'A recovery code was used',
    'Somebody signed in to your account with a recovery code. 9 of those codes are left.',
  ],
  administrator_signed_in: [
    null,
    'You signed in from a new address',
    'Somebody signed in to your administrator account from an address that was not seen before.',
  ],
}

test('each change is told in one sentence, with when, from where, and what to do', async () => {
  const { market, world, join, close } = await openBareMarket()
  const { id: userId, email } = await join('ann')
  for (const [kind, [detail, subject, sentence]] of Object.entries(said) as [
    SecurityNoticeRow['kind'],
    (typeof said)['password_changed'],
  ][]) {
    for (const address of ['192.0.2.1', null]) {
      const id = world.id('sec')
      await market.db.write(tx => insertNotice(tx, { id, userId, kind, detail, address, createdAt: world.now() }))
      const words = await market.db.write(tx => noticeMail({ ...market, tx }, id))
      assert.equal(words, {
        to: email,
        subject,
        text: [
          sentence,
          '',
          'When: 2026-01-01T00:00:00.000Z',
          ...(address === null ? [] : [`From: ${address}`]),
          'Marketplace: http://market.example',
          '',
          'If it was you, there is nothing to do. If not, ask for a new password: it ends every session and every API key.',
          '',
          '  http://market.example/console/sign-in?forgot',
          `  npx agent-marketplace account password forgot ${email} --url http://market.example`,
          '',
        ].join('\n'),
      })
    }
  }
  assert.is(await market.db.write(tx => noticeMail({ ...market, tx }, 'sec_none')), null)
  await close()
})

test('the mail with a token says whose account it is for, how long the token is good, and where to send it', async () => {
  const { market, join, close } = await openBareMarket()
  const { email } = await join('ann')
  const words = await market.db.write(tx => resetMail({ ...market, tx }, email, 'mail_1'))
  const token = /^([\w-]{43})$/m.exec(words!.text)?.[1]
  assert.equal(words, {
    to: email,
    subject: 'Your new password',
    text: [
      'Somebody asked for a new password of your account at http://market.example.',
      'If it was not you, there is nothing to do: your password stays as it is.',
      '',
      'This token is good for one hour, and once:',
      '',
      token,
      '',
      'Set the new password with it:',
      '',
      `  http://market.example/console/sign-in?reset=${token}`,
      '  npx agent-marketplace account password reset --url http://market.example',
      '',
    ].join('\n'),
  })
  assert.is(await market.db.write(tx => resetMail({ ...market, tx }, 'nobody@example.com', 'mail_2')), null)
  await close()
})

test('one mailbox gets three mails with a token in an hour; the same mail again is no other one', async () => {
  const { market, world, join, close } = await openBareMarket()
  const { email } = await join('ann')
  const { email: other } = await join('bob')
  const mail = async (to: string, mailId: string) =>
    (await market.db.write(tx => resetMail({ ...market, tx }, to, mailId))) !== null
  for (const mailId of ['mail_1', 'mail_2', 'mail_3', 'mail_3']) assert.ok(await mail(email, mailId), mailId)
  assert.is(await mail(email, 'mail_4'), false)
  assert.is(await mail(other, 'mail_5'), true)
  world.tick(3_599_999)
  assert.is(await mail(email, 'mail_6'), false)
  world.tick(1)
  assert.is(await mail(email, 'mail_6'), true)
  await close()
})

test.run()
