// engines: embedded; process: own; lengths: long
/** Ten thousand rows on a page of the console: those in sight are made, all can be reached and found by their address, and all are printed. */
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

const ROWS = 10_000
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
  'of ten thousand rows those in sight are made, all can be reached, and all are printed',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    const { browser, close } = await openBrowser()
    try {
      const id = await crowd(dev, ROWS)
      for (const look of [
        { width: 1440, colorScheme: 'light' },
        { width: 320, colorScheme: 'dark' },
      ] as const) {
        const tab = await openTab(browser, dev.ready.url, look)
        await be(tab, 'buyer')
        await tab.to('/tasks')
        await tab.sees(/of 5,00\d$/)
        await tab.isAccessible('tasks')
        await tab.to('/tasks?page=250')
        await tab.sees('4,981–5,000')
        await be(tab, 'builder')
        await tab.to('/deliveries?page=50')
        await isRead(tab, 'deliveries')
        await tab.isAccessible('deliveries')
        await be(tab, 'admin')
        await tab.to('/')
        await tab.page.locator('[data-row]').first().waitFor()
        await walk(tab, '[data-row]', 'the stream')
        await lookAtHistory(tab, id)
        tab.hadNoFaults()
        await tab.close()
      }
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

async function lookAtHistory(tab: Tab, id: string): Promise<void> {
  const { page } = tab
  await tab.to(`/tasks/${id}`)
  await page.locator('.ev').first().waitFor()
  const many = Number(/^\d+/.exec((await page.locator('.story .pager').textContent())!)![0])
  assert.ok(many > ROWS / 2, `${many} rows`)
  await walk(tab, '.ev', 'the history')
  await tab.to(`/tasks/${id}?as=list`)
  await page.locator('.story [aria-rowindex="2"]').waitFor()
  await walk(tab, '.story tbody tr', 'the history as a list')
  assert.is(await page.locator('.story table').getAttribute('aria-rowcount'), String(many + 1))
  // An address of one row shows this row.
  await tab.to(`/tasks/${id}`)
  await scroll(tab, 'end')
  const last = page.locator('.ev a').last()
  await until('the last row', async () => (await inSight(tab, '.ev:nth-last-child(1)')) === 1)
  const hash = await last.getAttribute('href')
  await tab.to(`/tasks/${id}${hash}`)
  await until('the row of the address', async () => (await inSight(tab, `.ev[aria-current]`)) === 1)
  await tab.to(`/tasks/${id}`)
  await page.locator('.ev').first().waitFor()
  await page.emulateMedia({ media: 'print' })
  await until('all rows on paper', async () => (await page.locator('.ev').count()) >= many)
  for (const left of ['.side', '.strip', '.main .b', '.story .bar'])
    assert.is(await page.locator(left).filter({ visible: true }).count(), 0, `${left} on paper`)
  await page.emulateMedia({ media: 'screen' })
  await until('few rows again', async () => (await page.locator('.ev').count()) < MADE)
}

test.run()
