// engines: embedded, postgres at length; process: shared
/** What visitors do by forms that need no script: sign up, sign in, hire. Source: A-307. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/api/limits.ts'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { Visitor, wordsOf } from './visitor.ts'

const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
const { url, admin } = marketplace
const builder = await marketplace.join('builder')
const agent = await marketplace.list(builder, { name: 'Swift Translator', basePrice: 1_200 })
const HIRE = '/agents/swift-translator/hire'
const password = 'correct horse 9 staple'

const test = suite('public forms')
test.after(() => marketplace.close())

async function signedIn(name: string, funds = 100_000) {
  const user = await marketplace.join(name, funds)
  const visitor = new Visitor(url)
  assert.is((await visitor.send('/sign-in', { email: user.email, password: user.password })).status, 303)
  return { user, visitor }
}

const onceOf = (text: string) => /name="once" value="([^"]+)"/.exec(text)![1]!
const words = {
  title: 'Translate the notes',
  description: 'Into German please, the headings stay as they are.',
  price: '12.50',
}

test('a visitor makes an account and goes on where he was', async () => {
  const visitor = new Visitor(url)
  const door = await visitor.get(HIRE)
  assert.is(door.headers.get('location'), `/sign-in?to=${encodeURIComponent(HIRE)}`)
  const form = (await visitor.get(door.headers.get('location')!)).text
  assert.match(form, `<a class="link" href="/sign-up?to=${encodeURIComponent(HIRE)}">`)
  assert.match(wordsOf(form), 'Whoever hires has an account. You come back to where you were.')
  assert.match(form, '<a class="link" href="/console/sign-in?forgot">')
  assert.match((await visitor.get(`/sign-up?to=${HIRE}`)).text, `<input type="hidden" name="to" value="${HIRE}">`)
  const fields = { name: 'Vera <b>', email: 'vera@example.org', password, to: HIRE }
  const made = await visitor.send('/sign-up', fields)
  assert.equal([made.status, made.headers.get('location')], [303, HIRE])
  assert.match(made.headers.get('set-cookie')!, /^session=\S+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/)
  const { text, headers } = await visitor.get(HIRE)
  assert.match(text, '<h1>Hire')
  assert.match(text, 'Vera &lt;b&gt;')
  assert.is(headers.get('cache-control'), 'private, no-cache')
  assert.is((await visitor.get('/sign-in?to=/agents')).headers.get('location'), '/agents', 'who is signed in goes on')
  const out = await visitor.send('/sign-out', {})
  assert.equal([out.status, out.headers.get('location'), visitor.isSignedIn], [303, '/agents', false])
  const taken = await visitor.send('/sign-up', fields)
  assert.is(taken.status, 409)
  assert.match(wordsOf(taken.text), 'An account with this email exists.')
  assert.match(taken.text, 'value="vera@example.org"')
  assert.not.match(taken.text, password)
  const bad = await visitor.send('/sign-up', { ...fields, email: 'x', password: 'short' })
  assert.is(bad.status, 400)
  assert.is(bad.headers.get('cache-control'), 'private, no-cache', 'Back shows it again, and asks for nothing')
  assert.match(bad.text, /<a class="link" href="#email">Email<\/a> must be an email address/)
  assert.match(bad.text, /id="password" name="password"[^>]* aria-invalid="true" aria-describedby="password-e"/)
})

test('a builder becomes one by a tick', async () => {
  const visitor = new Visitor(url)
  assert.match((await visitor.get('/sign-up?as=builder')).text, 'name="isBuilder" checked')
  const made = await visitor.send('/sign-up', { name: 'Bill', email: 'bill@example.org', password, isBuilder: 'on' })
  assert.is(made.headers.get('location'), '/console/agents', 'where agents are listed')
  const forBuilders = async (who: Visitor) => (await who.get('/sign-up?as=builder')).headers.get('location')
  assert.is(await forBuilders(visitor), '/console/agents')
  const buyer = await signedIn('becoming')
  await buyer.user.client.updateMe({ isBuilder: false })
  assert.is(await forBuilders(buyer.visitor), '/console/settings', 'where one becomes a builder')
  const { email, password: known } = builder
  const back = await new Visitor(url).send('/sign-in', { email, password: known })
  assert.is(back.headers.get('location'), '/console')
  const { items: users } = await admin.client.adminListUsers({ limit: 100 })
  assert.is(users.find(({ email }) => email === 'bill@example.org')!.isBuilder, true)
  assert.is(users.find(({ email }) => email === 'vera@example.org')!.isBuilder, false)
})

test('whoever signs in goes to a page of this marketplace, and to no other', async () => {
  const user = await marketplace.join('goer')
  const leads = async (to: string) => {
    const { email, password: own } = user
    return (await new Visitor(url).send('/sign-in', { email, password: own, to })).headers.get('location')
  }
  assert.is(await leads('/agents?q=a#x'), '/agents?q=a#x')
  for (const elsewhere of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'agents',
    '/a\r\nx: y',
    '/é',
  ]) {
    assert.is(await leads(elsewhere), '/console', JSON.stringify(elsewhere))
  }
})

test('a wrong password begins nothing, and a second factor is asked for', async () => {
  const user = await marketplace.join('factor')
  const { secret } = await user.client.beginTotp({ password: user.password })
  const { recoveryCodes } = await user.client.confirmTotp({ code: totpCode(secret, marketplace.world.realNow()) })
  const visitor = new Visitor(url)
  const wrong = await visitor.send('/sign-in', { email: user.email, password: 'wrong' })
  assert.equal([wrong.status, visitor.isSignedIn], [401, false])
  assert.match(wordsOf(wrong.text), 'The email or the password is wrong.')
  const asked = await visitor.send('/sign-in', { email: user.email, password: user.password })
  assert.equal([asked.status, visitor.isSignedIn], [400, false])
  assert.match(asked.text, '<details open>')
  assert.match(asked.text, '<a class="link" href="#code">Code</a>')
  marketplace.world.tick(60_000)
  const code = totpCode(secret, marketplace.world.realNow())
  const passed = await visitor.send('/sign-in', { email: user.email, password: user.password, code })
  assert.equal([passed.status, visitor.isSignedIn], [303, true])
  const rescued = new Visitor(url)
  const { email, password: known } = user
  const recovered = await rescued.send('/sign-in', { email, password: known, code: ` ${recoveryCodes[0]} ` })
  assert.equal([recovered.status, rescued.isSignedIn], [303, true], 'a recovery code is typed into the same field')
})

test('one form hires: the task is there, its price is held, its agent is told', async () => {
  const { user, visitor } = await signedIn('hirer')
  const once = onceOf((await visitor.get(HIRE)).text)
  const sent = await visitor.send(HIRE, { ...words, once, requirements: 'Line 1\r\nLine 2' })
  assert.is(sent.status, 303)
  const { tasks } = await user.client.listTasks({})
  assert.is(tasks.length, 1)
  const { id, status, agreedPrice, requirements, agentId } = tasks[0]!
  assert.equal([status, agreedPrice, requirements, agentId], ['pending', 1_250, 'Line 1\nLine 2', agent.id])
  assert.is(sent.headers.get('location'), `${HIRE}?task=${id}`)
  assert.equal(await marketplace.balances(user.id), { available: 98_750, held: 1_250, clearing: 0 })
  const shown = await visitor.get(`${HIRE}?task=${id}`)
  assert.match(wordsOf(shown.text), '12.50 is held. Swift Translator has been told')
  assert.match(shown.text, `<a class="b main-b" href="/console/tasks/${id}">`)
  await marketplace.webhooksSent()
  assert.ok(agent.sink.received.some(({ data }) => data.taskId === id))
  // The same form again is the same task, as after a second click.
  const again = await visitor.send(HIRE, { ...words, once, requirements: 'Line 1\r\nLine 2' })
  assert.is(again.headers.get('location'), sent.headers.get('location'))
  assert.is((await user.client.listTasks({})).tasks.length, 1)
  assert.is((await visitor.send(HIRE, { ...words, once, title: 'Another title' })).status, 303)
  assert.is((await user.client.listTasks({})).tasks.length, 2)
  const other = await signedIn('onlooker')
  assert.is((await other.visitor.get(`${HIRE}?task=${id}`)).status, 403)
  assert.is((await other.visitor.get(`${HIRE}?task=task_none`)).status, 404)
  await marketplace.checkLedger()
})

test('a refused form shows what was wrong and keeps what was typed; nothing is made and nothing is held', async () => {
  const { user, visitor } = await signedIn('poor', 1_000)
  const { text } = await visitor.get(HIRE)
  assert.match(text, 'value="12.00"')
  const once = onceOf(text)
  const before = await marketplace.contents()
  const cases: readonly (readonly [object, RegExp])[] = [
    [{}, /The wallet holds 10\.00 to spend and 0\.00 that is still clearing; 12\.50 is needed\./],
    [{ description: 'Short.' }, /What is to be done must have 20 to 10,000 characters; this has 6/],
    [{ price: 'twelve' }, /Price must be an amount from 2\.00 on, like 12\.00/],
    [{ price: '1.99' }, /Price must be an amount from 2\.00 on, like 12\.00/],
    [{ title: '' }, /Title must have 5 to 200 characters/],
  ]
  for (const [change, expected] of cases) {
    const { status, text } = await visitor.send(HIRE, { ...words, once, ...change })
    assert.is(status, 400, JSON.stringify(change))
    assert.match(wordsOf(text), expected)
    assert.match(text, 'role="alert"')
    const typed = { ...words, ...change }
    assert.match(text, `value="${typed.title}"`)
    assert.ok(text.includes(`>\n${typed.description}</textarea>`))
  }
  assert.equal(await marketplace.contents(), before)
  await admin.client.adminUpdateUser({ id: user.id, suspended: true })
  const { status, text: stopped } = await visitor.send(HIRE, { ...words, price: '2.00', once })
  assert.is(status, 403)
  assert.match(wordsOf(stopped), 'This account is suspended')
  await admin.client.adminUpdateUser({ id: user.id, banned: true })
  const ended = await visitor.send(HIRE, { ...words, price: '2.00', once })
  assert.is(ended.status, 401)
  assert.equal(await marketplace.balances(user.id), { available: 1_000, held: 0, clearing: 0 })
})

test('a session that has ended while a task was written takes nothing of it along', async () => {
  const { user, visitor } = await signedIn('leaver')
  const once = onceOf((await visitor.get(HIRE)).text)
  await visitor.send('/sign-out', {})
  const sent = await visitor.send(HIRE, { ...words, once })
  assert.is(sent.status, 401)
  assert.match(wordsOf(sent.text), 'You are signed out. Sign in , in another tab, and send the task again')
  assert.match(sent.text, `value="${words.title}"`)
  assert.ok(sent.text.includes(`>\n${words.description}</textarea>`))
  assert.not.match(sent.text, 'Your wallet')
  await visitor.send('/sign-in', { email: user.email, password: user.password })
  assert.is((await visitor.send(HIRE, { ...words, once: onceOf(sent.text) })).status, 303)
  assert.is((await user.client.listTasks({})).tasks.length, 1)
  await marketplace.checkLedger()
})

test('a form that no page of this marketplace has sent does nothing', async () => {
  const { user, visitor } = await signedIn('victim')
  const once = onceOf((await visitor.get(HIRE)).text)
  const before = await marketplace.contents()
  const foreign = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: url },
  ] as Record<string, string>[]
  for (const from of foreign) {
    for (const path of [HIRE, '/sign-in', '/sign-up', '/sign-out']) {
      const fields = { ...words, once, email: user.email, password: user.password, name: 'Eve' }
      const { status, text, headers } = await visitor.send(path, fields, from)
      assert.is(status, 403, `${path} ${JSON.stringify(from)}`)
      assert.match(text, '<h1>Not allowed</h1>')
      assert.is(headers.get('set-cookie'), null)
    }
  }
  assert.ok(visitor.isSignedIn)
  assert.equal(await marketplace.contents(), before)
  const only = await visitor.send(HIRE, { ...words, once }, { origin: url })
  assert.is(only.status, 303, 'a browser that names its origin alone')
})

test('a form is a form: no JSON, no endless one', async () => {
  const from = { origin: url, 'sec-fetch-site': 'same-origin' }
  const post = async (body: string, type: string) =>
    (await fetch(`${url}/sign-in`, { method: 'POST', headers: { ...from, 'content-type': type }, body })).status
  assert.is(await post('{"email":"a@b.cd"}', 'application/json'), 400)
  assert.is(await post(`email=a%40b.cd&password=x${'&a=1'.repeat(40)}`, 'application/x-www-form-urlencoded'), 400)
  assert.is(await post(`email=${'a'.repeat(limits.jsonBytes)}`, 'application/x-www-form-urlencoded'), 400)
  assert.is(await post('email=a%40b.cd&password=%ff%', 'application/x-www-form-urlencoded; charset=utf-8'), 401)
  assert.is(await post('__proto__=1&password=x&email=a%40b.cd', 'application/x-www-form-urlencoded'), 401)
  assert.is(
    (await fetch(`${url}/api/auth/login`, { method: 'POST', headers: from, body: new URLSearchParams('a=1') })).status,
    400,
  )
})

test('who asks too often is told when to come again, on a page', async () => {
  const strict = await openTestMarketplace({ mode: 'serve', rateLimits: 'strict', console: 'off' })
  const visitor = new Visitor(strict.url)
  let last = await visitor.get('/agents')
  for (let at = 0; at < 6; at++) last = await visitor.send('/sign-in', { email: 'a@example.org', password: 'x' })
  assert.is(last.status, 429)
  assert.is(last.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(last.headers.get('retry-after')!, /^\d+$/)
  assert.match(wordsOf(last.text), /Too many requests Too many requests; try again in \d+ s\./)
  assert.not.match(last.text, '/console')
  await strict.close()
})

test.run()
