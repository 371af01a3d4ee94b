// engines: embedded; process: own
/** One task of a deployment, open with its buyer, its builder, an administrator and somebody else: each sees its own part, and can do its own. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answered } from '../../src/world/virtual.ts'
import { openBrowser } from '../support/browser.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
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

test.run()
