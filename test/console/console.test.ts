// engines: embedded; process: own; lengths: short, long
/** The console in a real browser, at a real dev: by the keyboard alone, with hostile words, and with somebody else at the same task. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpUser } from '../../src/sim/http-user.ts'
import { devOf } from '../cli/dev-lines.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { openMistakenAgent } from './agent.ts'
import { focusIsSeen, tabTo } from './keys.ts'
import { openTab, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('console')
test.after.each(tellWhatStandsOpen)
// One test spoils it, and may fail before it mends it.
test.before.each(() => agent.mend())

const folder = mkdtempSync(join(tmpdir(), 'marketplace-console-'))
const agent = await openMistakenAgent()
const dev = await devOf(folder, ['--forward-to', agent.url])
const { url, accounts, agents } = dev.ready
const own = agents.find(({ slug }) => slug === 'my-agent')!
agent.mend()
agent.begin({ secret: own.webhookSecret, key: accounts.builder!.apiKey, api: url })
const { browser, close } = await openBrowser()
await dev.said(/^my-agent can be hired/)

test.after(async () => {
  await close()
  agent.close()
  await dev.stop()
  rmSync(folder, { recursive: true })
})

type Side = 'buyer' | 'builder' | 'admin'
const KEYS = { builder: '1', buyer: '2', admin: '3' } as const

const userOf = (side: Side) => {
  const user = new HttpUser(url)
  user.key = accounts[side]!.apiKey
  return user
}

/** Somebody else acts, by the interface. */
const call = <Data = unknown>(side: Side, path: string, body?: object) =>
  userOf(side).call<Data>('POST', `/api/tasks${path}`, body, 'key')

/** A task of the buyer's that is with the agent. */
async function hired(fields: object = {}): Promise<string> {
  const task = { title: 'A task', description: 'Something that is long enough.', agreedPrice: 500, ...fields }
  const { id } = await call<{ id: string }>('buyer', '', { agentId: own.id, ...task })
  await call('buyer', `/${id}/submit`)
  return id
}

const stateOf = (tab: Tab, word: string) => tab.page.locator('.head .st', { hasText: word }).waitFor()

async function be(tab: Tab, side: Side) {
  await tab.press(KEYS[side])
  await tab.page.locator('.who [aria-pressed=true]', { hasText: new RegExp(side, 'i') }).waitFor()
}

/** A tab at an address, in which somebody has signed in by a key. */
async function tabOf(side: Side, path: string, refusals: readonly number[] = []): Promise<Tab> {
  const tab = await openTab(browser, url, { refusals })
  await tab.to(path)
  await be(tab, side)
  return tab
}

test('somebody signs in, hires, sees the failed webhook, finds why, mends it, sends it again and approves, by keys alone', async () => {
  agent.spoil()
  const tab = await openTab(browser, url)
  await tab.to('/hire/my-agent')
  await tab.sees('Who do you want to be?')
  await be(tab, 'buyer')
  const { page, press, sees } = tab
  // Signing in leads back to where one was.
  const title = page.getByLabel('Title')
  await tabTo(tab, title)
  await page.keyboard.type('Translate the notes')
  await press('Tab')
  await page.keyboard.type('Into German, and keep the tone friendly and short.')
  await tabTo(tab, title, 'Shift+Tab')
  // What it has is selected, so that what is typed takes its place.
  await page.keyboard.type('Translate the release notes')
  await tabTo(tab, page.getByRole('button', { name: /^Send the task/ }))
  await press('Enter')
  await page.getByRole('heading', { name: 'Translate the release notes' }).waitFor()
  assert.is(await page.evaluate('document.activeElement.tagName'), 'H1', 'the heading has the focus after a way')
  await page.locator('.ev.fail').first().waitFor()
  await press('f')
  await page.locator('.ev.request').first().waitFor({ state: 'detached' })
  await press('ArrowDown')
  await focusIsSeen(tab)
  await press('Enter')
  await sees('What went wrong')
  // What the drawer has is on the way, and Esc leads back to the row.
  await tabTo(tab, page.locator('.drawer summary').first())
  await sees('To mend it:')
  // The simulator has found out by trial webhooks what the agent takes.
  await sees('what is to be signed')
  assert.match(
    await page
      .locator('.diff ins')
      .allTextContents()
      .then(all => all.join('')),
    /^\d{13}\.$/,
  )
  assert.is(await page.locator('.diff del').textContent(), 'no timestamp and dot ')
  await tab.isAccessible('a failed webhook')
  agent.mend()
  await be(tab, 'builder')
  await page.getByRole('button', { name: /^Resend/ }).waitFor()
  await press('r')
  await stateOf(tab, 'Delivered')
  await be(tab, 'buyer')
  await page.getByRole('button', { name: /^Approve/ }).waitFor()
  await press('a')
  await page.getByRole('button', { name: /^Approve and pay 5\.00/ }).waitFor()
  await focusIsSeen(tab)
  await press('Enter')
  await stateOf(tab, 'Completed')
  await press('Escape', '?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('Failed only').waitFor()
  // All at once: who knows the keys waits for nothing.
  await press('Escape', '.')
  await focusIsSeen(tab)
  await page.keyboard.type('list')
  await press('Enter')
  await page.getByRole('table').first().waitFor()
  await tab.isAccessible('the life of a task as a list')
  tab.hadNoFaults()
  await tab.close()
})

/** Markup, a script, another direction, control characters, and much of it. */
const HOSTILE = `</bdi><img src=x onerror=alert(1)><script>alert(2)</script>\u202eevil\u0007 \u0000`.replace(
  '\u0000',
  '',
)

test('words of others are text, whatever they are', async () => {
  const id = await hired({ title: HOSTILE.slice(0, 90), description: HOSTILE.repeat(50), requirements: HOSTILE })
  await call('buyer', `/${id}/messages`, { content: HOSTILE + 'x'.repeat(4_000) })
  const tab = await tabOf('buyer', `/tasks/${id}`)
  const { page } = tab
  await stateOf(tab, 'Delivered')
  await page.locator('.talk li').waitFor()
  assert.is(await page.locator('main img, main script, main iframe').count(), 0)
  assert.ok((await page.locator('h1').textContent())!.includes('<img src=x onerror=alert(1)>'))
  assert.ok((await page.locator('h1').textContent())!.includes('U+202E'))
  await tab.isAccessible('hostile words')
  await page.setViewportSize({ width: 360, height: 800 })
  await tab.isAccessible('hostile words on a telephone')
  const isBefore = "document.querySelector('#work').compareDocumentPosition(document.querySelector('.story')) === 4"
  assert.is(await page.evaluate(isBefore), true, 'the work comes before its history')
  tab.hadNoFaults()
  await tab.close()
})

test('who is late is told so; who was signed out goes on where he was; neither loses what he wrote', async () => {
  const id = await hired()
  const tab = await tabOf('buyer', `/tasks/${id}`, [400])
  const { page, press, sees } = tab
  await stateOf(tab, 'Delivered')
  await press('v')
  await page.getByLabel('What should be different').fill('The headings, in German.')
  await call('buyer', `/${id}/approve`)
  await page
    .getByRole('button', { name: /^Ask for a revision/ })
    .last()
    .click()
  await page.locator('.toast', { hasText: 'Not done' }).waitFor()
  await stateOf(tab, 'Completed')
  const kept = await page.evaluate('Object.values(sessionStorage).join()')
  assert.ok(String(kept).includes('The headings, in German.'))
  await page.locator('#content').fill('One more thing')
  // Whatever asks first notices it: this, or what is read anew as something has changed.
  await page.evaluate(
    "fetch('/api/auth/logout', { method: 'POST' }).then(() => document.querySelector('#content')?.form.requestSubmit())",
  )
  await sees('You go on where you were.')
  await press('2')
  await stateOf(tab, 'Completed')
  assert.is(await page.locator('#content').inputValue(), 'One more thing')
  tab.hadNoFaults()
  await tab.close()
})

if (isLong)
  test('who is banned while he writes is told so by what he does next, keeps what he wrote, and goes on once the ban is lifted', async () => {
    const id = await hired()
    // Contexts of one browser share who is signed in.
    const other = await openBrowser()
    const mine = await tabOf('buyer', `/tasks/${id}`, [403])
    const theirs = await openTab(other.browser, url)
    try {
      await theirs.to(`/tasks/${id}`)
      await be(theirs, 'builder')
      for (const tab of [mine, theirs]) await stateOf(tab, 'Delivered')
      const { client } = userOf('admin')
      const { id: buyerId } = (await userOf('buyer').client.me({})).user
      const content = mine.page.locator('#content')
      await content.fill('Not sent yet')
      await client.adminUpdateUser({ id: buyerId, banned: true })
      await mine.page.evaluate("document.querySelector('#content').form.requestSubmit()")
      await mine.page.getByRole('alert').getByText('This account is banned').first().waitFor()
      assert.is(await content.inputValue(), 'Not sent yet')
      await mine.page.reload()
      await mine.sees('You go on where you were.')
      await mine.press('2')
      await mine.page.getByRole('alert').getByText('This account is banned').waitFor()
      await mine.isAccessible('signing in while one is banned')
      // The other one goes on meanwhile.
      await theirs.page.locator('#content').fill('Are you there?')
      await theirs.page.getByRole('button', { name: 'Send', exact: true }).click()
      await theirs.page.locator('.talk', { hasText: 'Are you there?' }).waitFor()
      await client.adminUpdateUser({ id: buyerId, banned: false })
      await mine.press('2')
      await mine.page.locator('.talk', { hasText: 'Are you there?' }).waitFor()
      assert.is(await content.inputValue(), 'Not sent yet')
      for (const tab of [mine, theirs]) {
        tab.hadNoFaults()
        await tab.close()
      }
    } finally {
      await other.close()
    }
  })

// A run of the judge takes its time.
if (isLong)
  test('a run of the judge is shown while it goes on, and each of its checks in full', async () => {
    agent.mend()
    const tab = await tabOf('builder', '/conformance')
    const { page } = tab
    await page.getByRole('button', { name: 'Judge my-agent' }).waitFor()
    await tab.isAccessible('no run yet')
    const { id } = await userOf('builder').call<{ id: string }>(
      'POST',
      '/api/dev/conformance',
      { agentId: own.id, only: ['sig'] },
      'key',
    )
    await tab.to(`/conformance/${id}`)
    await page.getByRole('button', { name: 'Run again' }).waitFor()
    await tab.isAccessible('a run')
    await page.locator('.cell[aria-label^="sig.valid"]').click()
    await tab.sees('Only this one, again')
    await tab.isAccessible('a check')
    tab.hadNoFaults()
    await tab.close()
  })

if (isLong)
  test('what was asked before one changed sides, and is answered after, signs nobody out', async () => {
    const id = await hired()
    const tab = await tabOf('buyer', `/tasks/${id}`, [401])
    const { page } = tab
    let answer: (() => Promise<number>) | undefined
    await page.route('**/messages', async route => {
      if (route.request().method() !== 'POST') return route.continue()
      answer = async () => {
        const response = await route.fetch()
        await route.fulfill({ response })
        return response.status()
      }
    })
    await page.locator('#content').fill('Sent, and then gone')
    const sent = page.waitForRequest(request => request.method() === 'POST' && request.url().endsWith('/messages'))
    await page.evaluate("document.querySelector('#content').form.requestSubmit()")
    await sent
    await page.locator('h1').click()
    await be(tab, 'builder')
    const learned = page.waitForResponse(response => response.url().endsWith('/api/auth/me'))
    assert.is(await answer!(), 401, 'the session of before is over')
    assert.is((await learned).status(), 200)
    await stateOf(tab, 'Delivered')
    tab.hadNoFaults()
    await tab.close()
  })

test.run()
