// engines: embedded; process: own; lengths: short, long
/** What is done on the pages of the console, in a real browser. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { WalletRecord } from '../../src/api/money-records.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { devOf } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { be, openTab, tellWhatStandsOpen } from './tab.ts'

const test = suite('pages')
test.after.each(tellWhatStandsOpen)

test(
  'what is done on a page is done at the marketplace, to the cent, and a refusal loses nothing that was written',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    const { browser, close } = await openBrowser()
    const buyer = new HttpUser(dev.ready.url)
    buyer.key = dev.ready.accounts.buyer!.apiKey
    const balance = async () => (await buyer.call<WalletRecord>('GET', '/api/wallet', undefined, 'key')).wallet
    try {
      const tab = await openTab(browser, dev.ready.url, { refusals: [400] })
      const { page, sees } = tab
      await be(tab, 'buyer')
      const before = await balance()

      await tab.to('/wallet')
      await page.getByRole('button', { name: 'Put money in…' }).click()
      await page.getByLabel('Amount').fill('25.50')
      await page.getByRole('button', { name: /^Put in 25\.50/ }).click()
      await sees('1,025.50')
      assert.is((await balance()).balance, before.balance + 2550)

      await tab.to('/hire/sample-agent')
      await page.getByLabel('Title').fill('Sum up twelve reviews')
      await page.getByLabel('What is to be done').fill('Too short.')
      await page.getByRole('button', { name: /^Send the task/ }).click()
      await sees('The task was not sent.')
      await page.reload()
      assert.is(await page.getByLabel('Title').inputValue(), 'Sum up twelve reviews')
      await page.getByLabel('What is to be done').fill('Two sentences for each, and keep the tone friendly.')
      await page.getByLabel('Price').fill('12')
      await page.getByRole('button', { name: 'Send the task, hold 12.00' }).click()
      await page.getByRole('heading', { name: 'Sum up twelve reviews' }).waitFor()
      const id = new URL(page.url()).pathname.split('/').at(-1)!
      await dev.until('the deliverable', line => line.type === 'task' && line.taskId === id && line.to === 'delivered')
      await buyer.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Half of it is missing.' }, 'key')

      await be(tab, 'admin')
      await tab.to('/queues')
      await page.getByRole('link', { name: 'Sum up twelve reviews' }).click()
      await page.getByLabel('Back to the buyer', { exact: true }).fill('5')
      await page.getByRole('button', { name: 'Split 5.00 and 7.00' }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Split 5\.00 and 7\.00/ })
        .click()
      await sees('Decided: split')
      assert.equal(await balance(), { ...before, balance: before.balance + 2550 - 700, heldBalance: 0 })
      tab.hadNoFaults()
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

test.run()
