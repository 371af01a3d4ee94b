// engines: embedded, postgres at length; process: shared
/** Passwords that are guessed first are refused wherever one is chosen. Source: A-196. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { guessable } from '../../../src/market/accounts/common-passwords.ts'
import { HttpUser } from '../../../src/sim/http-user.ts'
import { checkedFetch } from '../../support/contract.ts'
import { openTestMarketplace } from '../../support/marketplace.ts'

const owner = { email: 'annabelle.lee@example.com', name: 'Annabelle Lee' }
const config = { baseUrl: 'https://bazaar.example' }
const fault = (password: string) => guessable(password, owner, config)

test('what leaked most often is refused, with case, digits and signs around it as without', async () => {
  for (const password of [
    ...['1234567890', 'password123', 'qwertyuiop', 'Password1234', 'PASSWORD123', '1q2w3e4r5t', 'iloveyou123'],
    ...['monkey1234', '!!dragon87', 'Sunshine2024!', 'football!!!', '12345password', 'ｐａｓｓｗｏｒｄ１２３'],
  ]) {
    assert.match((await fault(password)) ?? 'nothing', 'guessed first', password)
  }
})

test('what repeats or counts is refused', async () => {
  for (const password of [
    'aaaaaaaaaa',
    '1111111111',
    'abababababab',
    'xyzxyzxyzxyz',
    'abcdefghij',
    '9876543210',
    'zyxwvutsrqp',
  ]) {
    assert.match((await fault(password)) ?? 'nothing', /repeats|guessed first/, password)
  }
})

test('what anyone knows of the account is refused, with a little beside it as without', async () => {
  for (const password of [
    ...[
      'annabelle.lee@example.com',
      'Annabelle Lee',
      'annabellelee',
      'annabelle1987',
      'lee-annabelle',
      'ANNABELLE.LEE!!',
    ],
    ...['bazaar.example', 'bazaar-12345', 'marketplace1', 'agent-marketplace', 'example.com99'],
  ]) {
    assert.match((await fault(password)) ?? 'nothing', /your own name|guessed first/, password)
  }
})

test('a name counts by itself, however it is written, where the email says nothing of it', async () => {
  const of = (name: string) => guessable('quillfeather1987', { email: 'jb@post.example', name }, config)
  for (const name of ['quillfeather', 'Ada Quillfeather', 'QUILLFEATHER', 'Ｑｕｉｌｌｆｅａｔｈｅｒ'])
    assert.match((await of(name)) ?? 'nothing', /your own name/, name)
  assert.is(await of('Ada Feather'), null)
})

test('a password that only holds a common word, a name or few letters is taken', async () => {
  for (const password of [
    ...['correct horse battery staple', 'password of my aunt', 'annabelle hires robots', 'bazaar opens at nine'],
    ...[
      'k3-9xqv!7m',
      'Пароль для рынка',
      '密码是一只很长的猫咪',
      '😀🎈🦊🌵😀🎈🦊🌵😀🎈',
      '83920174650912',
      '"quoted\\\\pass"',
    ],
  ]) {
    assert.is(await fault(password), null, password)
  }
})

test('it is said at each place where a password is chosen, in the words of its field', async () => {
  const marketplace = await openTestMarketplace()
  const register = (body: object) =>
    new HttpUser(marketplace.url, checkedFetch).ask('POST', '/api/auth/register', { ...owner, ...body })
  const refused = await register({ password: 'password123' })
  assert.equal([refused.status, refused.error, Object.keys(refused.errors!)], [400, 'Validation failed', ['password']])
  assert.is((await register({ password: 'annabelle1987' })).status, 400)
  const ann = await marketplace.join('ann')
  const change = { currentPassword: ann.password, newPassword: 'Password1234' }
  assert.equal(Object.keys((await ann.ask('POST', '/api/auth/password', change)).errors!), ['newPassword'])
  assert.is(
    (await marketplace.visitor.ask('POST', '/api/auth/login', { email: ann.email, password: ann.password })).status,
    200,
  )
  await marketplace.close()
})

test('a deployment does not start with an administrator whose password is guessed first', async () => {
  const admin = { email: 'root@example.com', password: 'Administrator1' }
  const error = await openTestMarketplace({ admin }).catch(error => error)
  assert.match(String(error), 'MARKETPLACE_ADMIN_PASSWORD is')
})

test.run()
