// engines: embedded; process: own; lengths: long
/** Thousands of rows on a page of the console: those in sight alone are made, and all can be reached. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { devOf } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { until } from '../support/patience.ts'
import { crowd } from './crowd.ts'
import { be, isRead, openTab, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('many')
test.after.each(tellWhatStandsOpen)

const ROWS = 2_000
/** More than stand on three screens. */
const MADE = 300

/** Scrolls whatever scrolls. */
const scroll = ({ page }: Tab, to: 'start' | 'end') =>
  page.evaluate(
    `for (const area of [document.querySelector('.main'), document.scrollingElement, document.querySelector('.feed')]) if (area) area.scrollTop = ${to === 'start' ? 0 : 1e9}`,
  )

/** What is in sight of what fits. */
const inSight = ({ page }: Tab, selector: string) =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].filter(row => { const { top, bottom } = row.getBoundingClientRect(); return bottom > 0 && top < innerHeight }).length`,
  )

/** From its first row to its last and back, there is always something to see. */
async function walk(tab: Tab, row: string, what: string): Promise<void> {
  for (const to of ['end', 'start'] as const) {
    await scroll(tab, to)
    await until(`${what} at its ${to}`, async () => Number(await inSight(tab, row)) > 0)
    const made = await tab.page.locator(row).count()
    assert.ok(made < MADE, `${what} makes ${made} rows at its ${to}`)
    await tab.isAccessible(`${what} at its ${to}`)
  }
}

test(
  'of thousands of rows those in sight are made, and all can be reached',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    const { browser, close } = await openBrowser()
    try {
      const id = await crowd(dev, ROWS)
      const tab = await openTab(browser, dev.ready.url)
      await be(tab, 'buyer')
      await tab.to('/tasks')
      await tab.sees(/of 1,00\d$/)
      await tab.isAccessible('tasks')
      await tab.to('/tasks?page=50')
      await tab.sees('981–1,000')
      await be(tab, 'builder')
      await tab.to('/deliveries?page=9')
      await isRead(tab, 'deliveries')
      await tab.isAccessible('deliveries')
      await be(tab, 'admin')
      await tab.to('/')
      await tab.page.locator('[data-row]').first().waitFor()
      await walk(tab, '[data-row]', 'the stream')
      await lookAtHistory(tab, id)
      tab.hadNoFaults()
      await tab.close()
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

/** What is not seen yet is read page by page. */
const isWhole = ({ page }: Tab) =>
  page
    .locator('.story .pager')
    .filter({ hasText: /^\d+ in all/ })
    .waitFor()

async function lookAtHistory(tab: Tab, id: string): Promise<void> {
  const { page } = tab
  await tab.to(`/tasks/${id}`)
  await isWhole(tab)
  const many = Number(/^\d+/.exec((await page.locator('.story .pager').textContent())!)![0])
  assert.ok(many > ROWS / 2, `${many} rows`)
  await walk(tab, '.ev', 'the history')
  await tab.to(`/tasks/${id}?as=list`)
  await isWhole(tab)
  await page.locator('.story [aria-rowindex="2"]').waitFor()
  await walk(tab, '.story tbody tr', 'the history as a list')
  assert.is(await page.locator('.story table').getAttribute('aria-rowcount'), String(many + 1))
}

test.run()
