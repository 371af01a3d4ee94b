// engines: embedded; process: own
/** What people do with pages that they see for the first time: they click twice, leave fields out, and type over what is proposed. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openBrowser } from '../support/browser.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { openTab, signIn, tellWhatStandsOpen } from './tab.ts'

const test = suite('visit')
test.after.each(tellWhatStandsOpen)

test('a buyer puts money in, becomes a builder, and lists one agent; an administrator sees both at once', async () => {
  const marketplace = await openTestMarketplace({ mode: 'serve', payments: 'manual', rateLimits: 'off' })
  const { url, admin } = marketplace
  const bob = await marketplace.join('bob')
  await bob.client.updateMe({ isBuilder: false })
  const [forBob, forAdmin] = [await openBrowser(), await openBrowser()]
  try {
    const queues = await openTab(forAdmin.browser, url, { refusals: [400] })
    await signIn(queues, admin, '/queues')
    await queues.page.getByText('Nothing waits.').nth(3).waitFor()
    const tab = await openTab(forBob.browser, url, { refusals: [400] })
    const { page, press, sees } = tab
    await signIn(tab, bob, '/wallet')

    await page.getByRole('button', { name: 'Put money in…' }).click()
    // What is typed takes the place of what was proposed.
    await page.keyboard.type('1')
    await press('Enter')
    await page.getByRole('dialog').getByText('Amount must be at least 2.00.').waitFor()
    await page.getByLabel('Amount').fill('60')
    await page.getByRole('button', { name: /^Put in 60\.00/ }).dblclick()
    await sees('waits for an administrator to confirm that it has arrived')
    assert.is((await admin.client.adminListDeposits({})).pagination.total, 1)
    await queues.sees('+ 60.00')

    await tab.to('/settings')
    await page.getByRole('button', { name: 'Become a builder' }).click()
    await page.getByRole('link', { name: 'List one' }).click()
    await page.getByLabel('Name').fill('Menu <b>')
    await page.getByLabel('In one line').fill('Menus of inns, translated')
    await page.getByLabel('What it does').fill('Translates the menus of inns and restaurants to German.')
    await page.getByLabel('Price').fill('1')
    await page.getByRole('button', { name: 'List it as a draft' }).click()
    await sees('It was not saved.')
    await tab.isAccessible('an agent that is not saved')
    const wrong = async (label: string) => {
      const id = await page.getByLabel(label, { exact: true }).getAttribute('aria-describedby')
      return (await page.locator(`[id="${id!.split(' ')[0]}"]`).textContent()) ?? ''
    }
    assert.match(await wrong('Price'), 'must be at least 2.00')
    assert.match(await wrong('Category'), 'must have 1 to')
    await page.getByRole('alert').getByRole('link', { name: 'Category' }).click()
    assert.is(await page.evaluate('document.activeElement.id'), 'categoryIds')
    await page.getByLabel('Price').fill('12')
    await page.getByLabel('Category').selectOption({ index: 1 })
    await page.getByRole('button', { name: 'List it as a draft' }).dblclick()
    await page.getByRole('heading', { name: 'Menu <b>', level: 1 }).waitFor()
    const { items } = await bob.client.listMyAgents({})
    assert.equal(
      items.map(({ name, basePrice }) => [name, basePrice]),
      [['Menu <b>', 1_200]],
    )

    await sees('none yet')
    await page.getByRole('button', { name: 'Make one and copy…' }).click()
    await press('Enter')
    await sees('Keep the new secret now.')
    await sees('whsec_••••••••')
    assert.is(await page.getByText('none yet').count(), 0)
    await sees('a dot and the raw body')
    tab.hadNoFaults()
    queues.hadNoFaults()
  } finally {
    await Promise.all([forBob.close(), forAdmin.close()])
    await marketplace.close()
  }
})

test('the second of a double click approves nothing that has moved below it', async () => {
  const marketplace = await openTestMarketplace({ mode: 'serve', payments: 'manual', rateLimits: 'off' })
  const { url, admin } = marketplace
  const builder = await marketplace.join('builder')
  for (const name of ['First', 'Second']) await marketplace.publish(builder, { name })
  const { browser, close } = await openBrowser()
  try {
    const tab = await openTab(browser, url)
    await signIn(tab, admin, '/queues')
    const waiting = async () => (await admin.client.adminListAgents({ status: 'pending_review' })).pagination.total
    await tab.page.getByRole('button', { name: 'Approve First' }).click()
    await until('the list has moved', async () => (await tab.page.getByText('Approve First').count()) === 0)
    await tab.page.getByRole('button', { name: 'Approve Second' }).dispatchEvent('click', { detail: 2 })
    assert.is(await waiting(), 1)
    await tab.page.getByRole('button', { name: 'Approve Second' }).dblclick()
    await tab.page.getByText('Nothing waits.').nth(3).waitFor()
    assert.is(await tab.page.getByText('Not approved').count(), 0)
    await marketplace.publish(builder, { name: 'Third' })
    await tab.page.getByRole('button', { name: 'Approve Third' }).waitFor()
    // What it says of itself is there before it is approved.
    const reviews = tab.page.getByRole('region', { name: 'Agents to review' })
    await reviews.locator('summary').click()
    await reviews.getByText('An agent in the same process').waitFor()
    tab.hadNoFaults()
  } finally {
    await close()
    await marketplace.close()
  }
})

test.run()
