// engines: embedded; process: shared
/** The administrator that a start makes: what is taken for an email and a password, and whom it never touches. Source: A-5. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  ensureAdministrator,
  warnWithoutAdministrator,
  warnWithoutSecondFactor,
} from '../../../src/market/accounts/first-administrator.ts'
import { verifyPassword } from '../../../src/market/accounts/passwords.ts'
import { userByEmail } from '../../../src/store/tables/accounts/users.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const password = 'nobody would guess this'
const NO_EMAIL = /^MARKETPLACE_ADMIN_EMAIL is no email address: /
const NO_LENGTH = 'MARKETPLACE_ADMIN_PASSWORD must have 10 to 128 characters.'

async function open() {
  const bare = await openBareMarket()
  const { market } = bare
  const ensure = (email: string, given = password) =>
    ensureAdministrator(market, { email, password: given }).then(
      () => null,
      (error: Error) => error.message,
    )
  const users = () => market.db.read(q => q.all('SELECT email, name, is_admin, is_builder FROM users ORDER BY email'))
  return { ...bare, ensure, users }
}

test('it is made once, in lower case, with its password, and the log tells of it', async () => {
  const { market, logged, ensure, users, close } = await open()
  assert.is(await ensure('  Admin@Example.com '), null)
  const made = [{ email: 'admin@example.com', name: 'Administrator', is_admin: 1, is_builder: 0 }]
  assert.equal(await users(), made)
  const { id, passwordHash } = (await market.db.read(q => userByEmail(q, 'admin@example.com')))!
  assert.ok(await verifyPassword(passwordHash, password))
  assert.equal(logged, [{ type: 'administrator', userId: id, email: 'admin@example.com' }])
  assert.is(await ensure('admin@example.com', 'another one that is long'), null)
  assert.equal([await users(), logged.length], [made, 1])
  const after = (await market.db.read(q => userByEmail(q, 'admin@example.com')))!
  assert.is(after.passwordHash, passwordHash, 'a password that is set is never changed')
  await close()
})

test('what is no email is refused, and one of more than 254 characters', async () => {
  const { ensure, users, close } = await open()
  const long = (length: number) => `${'a'.repeat(length - '@example.com'.length)}@example.com`
  for (const email of ['', 'a', '@b', 'a@', 'a@b@c', 'a b@c', 'a@b c', long(255)]) {
    const said = await ensure(email)
    assert.match(said ?? 'it was taken', NO_EMAIL, email)
    assert.ok(said!.length <= 'MARKETPLACE_ADMIN_EMAIL is no email address: '.length + 100)
  }
  assert.equal(await users(), [])
  assert.is(await ensure(long(254)), null)
  await close()
})

test('its password has 10 to 128 characters and is not one of the first guesses', async () => {
  const { ensure, users, close } = await open()
  const of = (length: number) => 'x4hQ!z9_kLm2'.repeat(11).slice(0, length)
  assert.is(await ensure('a@example.com', of(9)), NO_LENGTH)
  assert.is(await ensure('a@example.com', of(129)), NO_LENGTH)
  assert.match((await ensure('a@example.com', 'administrator')) ?? '', /^MARKETPLACE_ADMIN_PASSWORD is .+\.$/)
  assert.match((await ensure('somebody@example.com', 'somebody12')) ?? '', /^MARKETPLACE_ADMIN_PASSWORD is .+\.$/)
  assert.equal(await users(), [])
  assert.is(await ensure('a@example.com', of(10)), null)
  assert.is(await ensure('b@example.com', of(128)), null)
  await close()
})

test('an account that is no administrator is never made one', async () => {
  const { join, ensure, users, close } = await open()
  const { email } = await join('ann')
  assert.match((await ensure(email)) ?? '', `${email} belongs to an account that is no administrator`)
  assert.equal(await users(), [{ email, name: 'ann', is_admin: 0, is_builder: 1 }])
  await close()
})

test('whoever loses to another instance that makes it at the same moment is content; any other failure is thrown', async () => {
  const { market, ensure, users, close } = await open()
  const both = await Promise.all([ensure('a@example.com'), ensure('a@example.com')])
  assert.equal([both, (await users()).length], [[null, null], 1])
  market.db.write = async () => {
    throw new Error('The disk is full')
  }
  assert.is(await ensure('b@example.com'), 'The disk is full')
  await close()
})

test('a start without one is warned of, and only then', async () => {
  const { market, logged, join, ensure, close } = await open()
  await join('ann')
  await warnWithoutAdministrator(market)
  assert.is(logged.length, 1)
  const [{ type, message = '' } = {}] = logged as { type?: string; message?: string }[]
  assert.is(type, 'warning')
  assert.match(message, /nobody can approve agents.*Set MARKETPLACE_ADMIN_EMAIL and MARKETPLACE_ADMIN_PASSWORD/)
  await ensure('admin@example.com')
  logged.length = 0
  await warnWithoutAdministrator(market)
  assert.equal(logged, [])
  await close()
})

test('where second factors are required, a start names the administrators who have none and may act', async () => {
  const { market, logged, ensure, join, close } = await open()
  await join('ann')
  for (const name of ['one', 'two', 'three', 'four']) await ensure(`${name}@example.com`)
  const idOf = async (name: string) => (await market.db.read(q => userByEmail(q, `${name}@example.com`)))!.id
  const [banned, done, begun] = [await idOf('two'), await idOf('three'), await idOf('four')]
  await market.db.write(async tx => {
    await tx.run('UPDATE users SET banned = 1 WHERE id = $1', [banned])
    const factor =
      'INSERT INTO second_factors (user_id, secret, last_step, created_at, enabled_at) VALUES ($1, $2, 0, 0, $3)'
    await tx.run(factor, [done, 'sealed', 1])
    await tx.run(factor, [begun, 'sealed', null])
  })
  logged.length = 0
  await warnWithoutSecondFactor(market)
  assert.equal(logged, [], 'nothing where they are optional')
  await warnWithoutSecondFactor({ ...market, config: { ...market.config, adminTotp: 'required' } })
  const [{ type, message = '' } = {}] = logged as { type?: string; message?: string }[]
  assert.equal([logged.length, type], [1, 'warning'])
  assert.match(message, 'can settle no money: one@example.com, four@example.com. ')
  await close()
})

test.run()
