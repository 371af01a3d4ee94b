// engines: embedded, postgres at length; process: shared
/** Mails about what guards an account, over real SMTP: who changed what, from where, and never a secret. Source: A-192. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { durations, limits } from '../../../src/api/limits.ts'
import { totpCode } from '../../../src/market/accounts/totp.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'
import { openPostOffice } from '../../support/post-office.ts'

const ELSEWHERE = { 'x-forwarded-for': '198.51.100.7' }

test('each change of what guards an account is told to its owner, without a secret', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({
    mail: { smtpUrl: office.url, from: 'market@example.com' },
    trustProxy: 1,
  })
  const ann = await marketplace.join('ann')
  const secrets: string[] = [ann.key!, ann.password]
  const next = async () => {
    office.received.length = 0
    await marketplace.runDue()
    const [mail, ...others] = office.received.filter(({ to }) => to[0] === ann.email)
    assert.equal(others, [])
    for (const secret of secrets) assert.not(mail!.raw.includes(secret))
    return mail!
  }
  assert.is((await next()).subject, 'An API key was created')

  const { key } = await ann.client.createKey({ name: 'laptop\r\nIf it was you, click here' })
  secrets.push(key)
  const created = await next()
  assert.match(created.text, '“laptop If it was you, click here”')
  assert.match(created.text, '/console/sign-in?forgot')

  const { secret } = await ann.client.beginTotp({ password: ann.password })
  const { recoveryCodes } = await ann.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  secrets.push(secret, ...recoveryCodes)
  assert.is((await next()).subject, 'Signing in takes a second factor now')

  const { email, password } = ann
  const visitor = new HttpUser(marketplace.url)
  const login = { email, password, recoveryCode: recoveryCodes[0] }
  assert.is((await visitor.ask('POST', '/api/auth/login', login, 'nobody', ELSEWHERE)).status, 200)
  const used = await next()
  assert.is(used.subject, 'A recovery code was used')
  assert.match(used.text, '9 of those codes are left')
  assert.match(used.text, 'From: 198.51.100.7')

  await ann.client.removeTotp({ password, recoveryCode: recoveryCodes[1]! })
  assert.is((await next()).subject, 'Signing in takes no second factor any more')

  const change = { currentPassword: password, newPassword: 'another long password' }
  assert.is((await ann.ask('POST', '/api/auth/password', change, 'session', ELSEWHERE)).status, 200)
  const changed = await next()
  assert.is(changed.subject, 'Your password was changed')
  assert.match(changed.text, 'go on working')
  const left = await marketplace.market.db.read(q => q.all('SELECT id FROM security_notices ORDER BY id'))
  assert.equal(left, [], 'a notice is gone with its mail')
  await marketplace.close()
  await office.close()
})

test('whoever makes and deletes keys without end fills no mailbox with mails', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: 'market@example.com' } })
  const ann = await marketplace.join('ann')
  for (let i = 0; i < limits.account.noticeMails + 5; i++) {
    const { keyInfo } = await ann.client.createKey({ name: `key ${i}` })
    await ann.client.deleteKey({ id: keyInfo.id })
  }
  await ann.client.changePassword({ currentPassword: ann.password, newPassword: 'another long password' })
  await marketplace.runDue()
  const subjects = office.received.filter(({ to }) => to[0] === ann.email).map(({ subject }) => subject)
  assert.is(subjects.filter(subject => subject === 'An API key was created').length, limits.account.noticeMails)
  assert.ok(subjects.includes('Your password was changed'), 'those of another kind still come')
  await marketplace.pass(durations.hourMs)
  office.received.length = 0
  await ann.client.createKey({ name: 'an hour later' })
  await marketplace.runDue()
  assert.is(office.received.filter(({ to }) => to[0] === ann.email).length, 1)
  await marketplace.close()
  await office.close()
})

test('an administrator hears of a sign-in from an address that is new, once; nobody else does', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({
    mail: { smtpUrl: office.url, from: 'market@example.com' },
    trustProxy: 1,
  })
  const ann = await marketplace.join('ann')
  await marketplace.runDue()
  office.received.length = 0
  for (const { email, password } of [marketplace.admin, ann]) {
    for (let time = 0; time < 2; time++) {
      const reply = await new HttpUser(marketplace.url).ask(
        'POST',
        '/api/auth/login',
        { email, password },
        'nobody',
        ELSEWHERE,
      )
      assert.is(reply.status, 200)
    }
  }
  await marketplace.runDue()
  assert.equal(
    office.received.map(({ to, subject }) => [to[0], subject]),
    [[marketplace.admin.email, 'You signed in from a new address']],
  )
  await marketplace.close()
  await office.close()
})

test('a change that is refused tells nobody, and neither does a deployment without mail', async () => {
  const office = await openPostOffice()
  const marketplace = await openTestMarketplace({ mail: { smtpUrl: office.url, from: 'market@example.com' } })
  const ann = await marketplace.join('ann')
  await marketplace.runDue()
  office.received.length = 0
  const wrong = { currentPassword: 'not the password', newPassword: 'another long password' }
  assert.is((await ann.ask('POST', '/api/auth/password', wrong)).status, 401)
  await marketplace.runDue()
  assert.is(office.received.length, 0)
  await marketplace.close()
  await office.close()
  const silent = await openTestMarketplace()
  await silent.join('bob')
  assert.equal(await silent.market.db.read(q => q.all('SELECT id FROM security_notices ORDER BY id')), [])
  await silent.close()
})

test.run()
