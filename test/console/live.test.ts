// engines: embedded; process: own; lengths: long
/** The console in many tabs: one stream for all, a cut connection that says so, and a sign-out that all hear of. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { devOf, hire } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { openTab, type Tab, tabIn, tellWhatStandsOpen } from './tab.ts'

const test = suite('live')
test.after.each(tellWhatStandsOpen)

const isLive = (tab: Tab) => tab.page.locator('.strip b', { hasText: /^Live$/ }).waitFor()
const stateOf = (tab: Tab, word: string) => tab.page.locator('.head .st', { hasText: word }).waitFor()

const MANY = 8

test(
  'eight tabs have one stream together, stay live and let the marketplace answer; all hear of a sign-out',
  inFolder(async folder => {
    const dev = await devOf(folder, [])
    const { browser, close } = await openBrowser()
    try {
      const first = await openTab(browser, dev.ready.url)
      const { context } = first
      const streams: string[] = []
      context.on('request', request => {
        if (request.url().endsWith('/api/stream')) streams.push(request.url())
      })
      await first.to('/sign-in')
      await first.press('2')
      const tabs = [first]
      for (let more = 1; more < MANY; more++) tabs.push(await tabIn(context, dev.ready.url))
      const id = await hire(dev as never, dev.ready.agents[0]!.id)
      for (const tab of tabs) await tab.to(`/tasks/${id}`)
      for (const tab of tabs) await isLive(tab)
      for (const tab of tabs) await stateOf(tab, 'Delivered')
      const before = streams.length
      assert.ok(before < MANY, `${before} streams`)
      const last = tabs.at(-1)!
      await last.page.locator('#content').fill('Seen by all')
      await last.page.getByRole('button', { name: 'Send', exact: true }).click()
      for (const tab of tabs) await tab.page.locator('.talk', { hasText: 'Seen by all' }).waitFor()
      assert.is(streams.length, before, 'nobody opens another')
      // The tab that has the stream goes: another one takes it.
      await first.close()
      const rest = tabs.slice(1)
      await last.page.locator('#content').fill('Seen by the rest')
      await last.page.getByRole('button', { name: 'Send', exact: true }).click()
      for (const tab of rest) await tab.page.locator('.talk', { hasText: 'Seen by the rest' }).waitFor()
      for (const tab of rest) await isLive(tab)
      await last.page
        .getByRole('button', { name: /^Commands/ })
        .last()
        .click()
      await last.page.keyboard.type('sign out')
      await last.press('Enter')
      for (const tab of rest) await tab.sees('Who do you want to be?')
      for (const tab of rest) tab.hadNoFaults()
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

test(
  'a cut connection says so, is read anew meanwhile, and is live again; what is paused waits',
  inFolder(async folder => {
    const dev = await devOf(folder, [])
    const { browser, close } = await openBrowser()
    try {
      const tab = await openTab(browser, dev.ready.url, { refusals: ['cut'] })
      const { page } = tab
      await tab.to('/sign-in')
      await tab.press('2')
      await isLive(tab)
      await page.route('**/api/stream', route => route.abort())
      await page.reload()
      await page.locator('.strip b', { hasText: /^Polling each 2 s since/ }).waitFor()
      const id = await hire(dev as never, dev.ready.agents[0]!.id)
      await tab.to(`/tasks/${id}`)
      await stateOf(tab, 'Delivered')
      await page.unroute('**/api/stream')
      await isLive(tab)
      await tab.press('p')
      await page.locator('.strip b', { hasText: 'Paused' }).waitFor()
      const task = { kind: 'message', content: 'While it is paused' }
      await page.evaluate(
        `fetch('/api/tasks/${id}/messages', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(task)}' })`,
      )
      await page.locator('.strip b', { hasText: /^Paused, \d+ new$/ }).waitFor()
      // Longer than what is read anew waits for more.
      await page.waitForTimeout(1_000)
      assert.is(await page.locator('.talk', { hasText: 'While it is paused' }).count(), 0)
      await tab.press('p')
      await page.locator('.talk', { hasText: 'While it is paused' }).waitFor()
      tab.hadNoFaults()
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

test.run()
