// engines: embedded; process: own
/** One task of a deployment, open with its buyer, its builder, an administrator and somebody else: each sees its own part, and can do its own. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answered } from '../../src/world/virtual.ts'
import { openBrowser } from '../support/browser.ts'
import { openTestMarketplace, type TestUser } from '../support/marketplace.ts'
import { openTab, signIn, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('parties')
test.after.each(tellWhatStandsOpen)

/** What only the builder's agent says, and only to the marketplace. */
const ANSWER = 'of the agent alone'

const textOf = async ({ page }: Tab) => (await page.locator('body').textContent())!
const buttons = ({ page }: Tab) => page.locator('.head .acts button').allInnerTexts()
const failures = ({ page }: Tab) => page.locator('.ev.fail')
const hears = ({ page }: Tab, words: string) => page.locator('.talk', { hasText: words }).waitFor()

async function opened(tab: Tab, address: string): Promise<void> {
  await tab.to(address)
  await tab.page.locator('.head .st', { hasText: 'Delivered' }).waitFor()
  await tab.page.locator('.story .ev').first().waitFor()
}

test('each party of a task sees what it may see, acts as itself, and hears the others; nobody else sees anything', async () => {
  const market = await openTestMarketplace({ mode: 'serve', payments: 'sandbox', rateLimits: 'off' })
  const [buyer, builder, other] = [await market.join('bob', 10_000), await market.join('bea'), await market.join('eve')]
  const agent = await market.list(builder)
  const { sink } = agent
  const { id } = await market.draft(buyer, agent, { title: 'Between two' })
  sink.answer = () => answered(500, ANSWER)
  await buyer.client.submitTask({ id })
  await market.webhooksSent()
  sink.answer = null
  await market.callback(agent, id, { action: 'accept' })
  await market.callback(agent, id, { action: 'deliver', content: 'The work of two.' })
  const browsers = await Promise.all([openBrowser(), openBrowser(), openBrowser(), openBrowser()])
  const tabs = await Promise.all(browsers.map(({ browser }) => openTab(browser, market.url, { refusals: [403] })))
  const [forBuyer, forBuilder, forAdmin, forOther] = tabs as [Tab, Tab, Tab, Tab]
  const address = `/tasks/${id}`
  try {
    await signIn(forBuyer, buyer, address)
    await signIn(forBuilder, builder, address)
    await signIn(forAdmin, market.admin, address)
    await signIn(forOther, other, address)

    for (const tab of [forBuyer, forBuilder, forAdmin]) {
      await opened(tab, address)
      await tab.page.getByRole('heading', { name: 'Between two' }).waitFor()
      await tab.sees('The work of two.')
      await tab.isAccessible('the task of two')
    }
    assert.is(await failures(forBuyer).count(), 0)
    for (const tab of [forBuilder, forAdmin]) {
      await failures(tab).first().locator('a').first().click()
      await tab.sees('What went wrong')
      await tab.sees(ANSWER)
      // What is opened stands in the place of what is said.
      await tab.page.getByRole('button', { name: 'Close' }).click()
    }
    const seen = await textOf(forBuyer)
    for (const words of [ANSWER, sink.url, agent.secret, builder.email]) assert.not(seen.includes(words), words)
    for (const words of [buyer.email, buyer.password, agent.secret])
      assert.not((await textOf(forBuilder)).includes(words), words)

    assert.match((await buttons(forBuyer)).join(), /Approve…/)
    assert.not.match((await buttons(forBuilder)).join(), /Approve|dispute|Cancel/i)
    assert.not.match((await buttons(forAdmin)).join(), /Approve|Resend/)

    const from = [
      [forBuyer, 'The buyer asks'],
      [forBuilder, 'The builder answers'],
    ] as const
    for (const [tab, words] of from) {
      await tab.page.locator('#content').fill(words)
      await tab.page.getByRole('button', { name: 'Send', exact: true }).click()
      for (const each of [forBuyer, forBuilder, forAdmin]) await hears(each, words)
    }
    // Whoever does not see the page is told, too.
    for (const each of [forBuyer, forBuilder])
      await each.page.locator('[aria-live=polite]', { hasText: /message/ }).waitFor({ state: 'attached' })
    await forBuyer.press('a')
    await forBuyer.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click()
    for (const tab of [forBuyer, forBuilder, forAdmin])
      await tab.page.locator('.head .st', { hasText: 'Completed' }).waitFor()

    await forOther.sees('could not be')
    const told = await textOf(forOther)
    for (const words of ['Between two', 'The work of two.', 'The buyer asks', 'bob', 'bea'])
      assert.not(told.includes(words), words)
    for (const tab of tabs) {
      tab.hadNoFaults()
      await tab.close()
    }
  } finally {
    await Promise.all(browsers.map(({ close }) => close()))
    await market.close()
  }
})

const field = ({ page }: Tab) => page.locator('#content')
const send = ({ page }: Tab) => page.getByRole('button', { name: 'Send', exact: true }).click()

async function says(tab: Tab, words: string): Promise<void> {
  await field(tab).fill(words)
  await send(tab)
}

const signsInAgain = async ({ page, press }: Tab, { email, password }: TestUser) => {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await press('Enter')
}

interface Both {
  readonly address: string
  readonly mine: Tab
  readonly theirs: Tab
  readonly me: TestUser
}

/** What was being written is there again once he is signed in, and can be sent. */
async function goesOn({ mine, theirs, me }: Both, words: string): Promise<void> {
  await signsInAgain(mine, me)
  await hears(mine, `Meanwhile, ${words}`)
  assert.is(await field(mine).inputValue(), words)
  await send(mine)
  for (const tab of [mine, theirs]) await hears(tab, words)
}

async function isSignedOut(both: Both, words: string): Promise<void> {
  const { address, mine, theirs } = both
  await opened(mine, address)
  await field(mine).fill(words)
  await mine.page.evaluate("fetch('/api/auth/logout', { method: 'POST' })")
  await says(theirs, `Meanwhile, ${words}`)
  // Whatever asks first notices it: this, or what is read anew.
  await mine.page.evaluate("document.querySelector('#content')?.form.requestSubmit()")
  await mine.sees('You go on where you were. What you wrote is still there.')
  await goesOn(both, words)
}

async function isBanned(both: Both, words: string, ban: (banned: boolean) => Promise<unknown>): Promise<void> {
  const { address, mine, theirs, me } = both
  await opened(mine, address)
  await field(mine).fill(words)
  await ban(true)
  await send(mine)
  const told = mine.page.getByRole('alert').getByText('This account is banned')
  await told.first().waitFor()
  await says(theirs, `Meanwhile, ${words}`)
  await mine.page.reload()
  await mine.sees('You go on where you were.')
  await signsInAgain(mine, me)
  await told.waitFor()
  await ban(false)
  await goesOn(both, words)
}

test('who is signed out or banned while he writes is told so by what he does next, and loses nothing; the other one goes on', async () => {
  const market = await openTestMarketplace({ mode: 'serve', payments: 'sandbox', rateLimits: 'off' })
  const { admin } = market
  const [buyer, builder] = [await market.join('bob', 10_000), await market.join('bea')]
  const agent = await market.list(builder)
  const { id } = await market.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await market.webhooksSent()
  await market.callback(agent, id, { action: 'accept' })
  await market.callback(agent, id, { action: 'deliver', content: 'The work of two.' })
  const browsers = await Promise.all([openBrowser(), openBrowser()])
  // Who is banned may not sign in.
  const tabs = await Promise.all(browsers.map(({ browser }) => openTab(browser, market.url, { refusals: [400, 403] })))
  const [forBuyer, forBuilder] = tabs as [Tab, Tab]
  const address = `/tasks/${id}`
  try {
    await signIn(forBuyer, buyer, address)
    await signIn(forBuilder, builder, address)
    for (const both of [
      { address, mine: forBuyer, theirs: forBuilder, me: buyer },
      { address, mine: forBuilder, theirs: forBuyer, me: builder },
    ]) {
      await isSignedOut(both, `signed out, ${both.me.email}`)
      await isBanned(both, `banned, ${both.me.email}`, banned =>
        admin.client.adminUpdateUser({ id: both.me.id, banned }),
      )
    }
    // What stands in a dialog is kept as well.
    await forBuyer.press('v')
    const wish = forBuyer.page.getByLabel('What should be different')
    await wish.fill('The headings, in German.')
    await forBuyer.page.evaluate(
      "fetch('/api/auth/logout', { method: 'POST' }).then(() => document.querySelector('dialog form')?.requestSubmit())",
    )
    await forBuyer.sees('You go on where you were.')
    await signsInAgain(forBuyer, buyer)
    await forBuyer.page.getByRole('button', { name: /^Ask for a revision/ }).waitFor()
    await forBuyer.press('v')
    assert.is(await wish.inputValue(), 'The headings, in German.')
    for (const tab of tabs) {
      tab.hadNoFaults()
      await tab.close()
    }
  } finally {
    await Promise.all(browsers.map(({ close }) => close()))
    await market.close()
  }
})

test.run()
