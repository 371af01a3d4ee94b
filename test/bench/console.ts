/** The console in a real browser, with ten thousand rows: how soon it can be used, how it scrolls, what it keeps in memory. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { devOf } from '../cli/dev-lines.ts'
import { crowd, type Dev, times, userOf } from '../console/crowd.ts'
import { be, openTab, type Tab } from '../console/tab.ts'
import { openBrowser } from '../support/browser.ts'
import { until } from '../support/patience.ts'
import { median, memoryRow, ms, quantile, type Row } from './table.ts'

const ROWS = 10_000
const OPENINGS = 15
/** Pixels that each frame scrolls by. */
const STEP = 400
/** A frame of a screen of 60 Hz, and what its clock is off by. */
const FRAME_MS = 17.5
/** Ten a second, for an hour. */
const EVENTS = 36_000

export async function inBrowser(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-console-'))
  const dev = await devOf(folder, ['--ephemeral'])
  const { browser, close } = await openBrowser()
  try {
    const id = await crowd(dev, ROWS)
    const tab = await openTab(browser, dev.ready.url)
    const at = (path: string) => `${dev.ready.url}/console${path}`
    await be(tab, 'buyer')
    const first = await opening(tab, at('/'), '[data-list] .go', 'the first page')
    await be(tab, 'admin')
    return [
      first,
      await opening(tab, at('/'), '[data-row]', 'the first page with the log of ten thousand entries'),
      await opening(tab, at(`/tasks/${id}`), '.head .st', 'a task that as much has happened to'),
      ...(await scrolling(tab, '/', '[data-row]', 'the log')),
      ...(await scrolling(tab, `/tasks/${id}`, '.ev', 'the history of a task')),
      await hour(tab, dev),
    ]
  } finally {
    await close()
    await dev.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** From the address until what is wanted is there. */
async function opening({ context }: Tab, address: string, wanted: string, what: string): Promise<Row> {
  const page = await context.newPage()
  await page.addInitScript(`{
    const look = () => {
      if (!document.querySelector('${wanted}')) return
      watch.disconnect()
      globalThis.usable = performance.now()
    }
    const watch = new MutationObserver(look)
    watch.observe(document, { childList: true, subtree: true })
  }`)
  const all: number[] = []
  for (let times = 0; times < OPENINGS; times++) {
    await page.goto(address)
    // The policy of the page allows no text as script, in which a browser could wait.
    await page.locator(wanted).first().waitFor()
    all.push((await page.evaluate('usable')) as number)
  }
  await page.close()
  const ratio = median(all)
  return { name: `console, ${what} can be used, in ms`, ours: ms(ratio), peer: '', ratio, wanted: '<= 300' }
}

/** From the first row to the last: of all frames, the one in twenty that takes longest; and what the page's thread has of the processor for each. */
async function scrolling({ page, context, to }: Tab, path: string, row: string, what: string): Promise<Row[]> {
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busyMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value
  }
  await to(path)
  await page.locator(row).first().waitFor()
  // A history is read page by page.
  await until('all rows', async () => !(await page.getByText('so far').isVisible()))
  const before = await busyMs()
  const all = (await page.evaluate(`new Promise(resolve => {
    const list = document.querySelector('${row}').parentElement
    const area = [list, document.querySelector('.main')].find(one => getComputedStyle(one).overflowY === 'auto')
    const all = []
    let last
    const step = now => {
      if (last !== undefined) all.push(now - last)
      last = now
      const before = area.scrollTop
      area.scrollTop += ${STEP}
      if (area.scrollTop > before) requestAnimationFrame(step)
      else resolve(all)
    }
    requestAnimationFrame(step)
  })`)) as number[]
  const ofEach = ((await busyMs()) - before) / all.length
  await session.detach()
  const ratio = quantile(all, 0.95)
  const late = all.filter(frame => frame > 1.5 * FRAME_MS).length / all.length
  return [
    {
      name: `console, 95 of 100 of ${all.length} frames along ${what}, in ms`,
      ours: `${ms(median(all))}, ${ms(ratio)}, ${(100 * late).toFixed(1)} % late`,
      ...{ peer: '', ratio, wanted: `<= ${FRAME_MS}` },
    },
    {
      name: `console, processor time of the page's thread for each of them, in ms`,
      ours: ms(ofEach),
      ...{ peer: '', ratio: ofEach, wanted: `<= ${FRAME_MS}` },
    },
  ]
}

async function hour({ page, context, to }: Tab, dev: Dev): Promise<Row> {
  await to('/')
  const admin = userOf(dev, 'admin')
  await times(EVENTS, at => admin.ask('GET', `/api/agents/nobody-${at}`, undefined, 'key'))
  await until('the last event', async () => page.getByText(`nobody-${EVENTS - 1}`).isVisible())
  const session = await context.newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return memoryRow(
    `console, scripts' memory after ${EVENTS.toLocaleString('en')} events, ten a second for an hour`,
    usedSize / 2 ** 20,
    '<= 80',
  )
}
