// engines: embedded; process: own; lengths: short, long
/** A page that stays open while its stream is cut, its marketplace starts again, or nobody looks at it: it says so, and catches up without being loaded anew. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { devOf, hire } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { type Dev, userOf } from './crowd.ts'
import { openProxy } from './proxy.ts'
import { be, openTab, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('cut')
test.after.each(tellWhatStandsOpen)

const strip = ({ page }: Tab, words: RegExp) => page.locator('.strip b', { hasText: words }).waitFor()
const isLive = (tab: Tab) => strip(tab, /^Live$/)
const isPolling = (tab: Tab) => strip(tab, /^Polling each 2 s since \d\d:\d\d:\d\d$/)
const hears = ({ page }: Tab, words: string) => page.locator('.talk', { hasText: words }).waitFor()

/** Somebody else writes. */
const write = (dev: Dev, id: string, content: string) => userOf(dev, 'builder').client.sendMessage({ id, content })

/** The page of a task, which notes that it is the same one. */
async function open(tab: Tab, id: string): Promise<void> {
  await tab.to(`/tasks/${id}`)
  await tab.page.locator('.head .st', { hasText: 'Delivered' }).waitFor()
  await isLive(tab)
  await tab.page.evaluate('globalThis.isTheSame = true')
}

async function isTheSame({ page }: Tab): Promise<void> {
  assert.is(await page.evaluate('globalThis.isTheSame'), true, 'it was loaded anew')
}

async function delivered(dev: Dev): Promise<string> {
  const id = await hire(dev, dev.ready.agents[0]!.id)
  await dev.until('the deliverable', line => line.type === 'task' && line.taskId === id && line.to === 'delivered')
  return id
}

/** What a browser does to a tab that another one stands over. */
const see = ({ page }: Tab, isSeen: boolean) =>
  page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!isSeen} })
     Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isSeen ? 'visible' : 'hidden'}' })
     document.dispatchEvent(new Event('visibilitychange'))`,
  )

interface Through {
  readonly dev: Awaited<ReturnType<typeof devOf>>
  readonly proxy: Awaited<ReturnType<typeof openProxy>>
  readonly browser: Awaited<ReturnType<typeof openBrowser>>['browser']
  /** Of a task that was delivered. */
  readonly id: string
}

/** A browser that reaches dev by a proxy of ours. What it plays returns its tab, in which nothing may have gone wrong. */
const throughProxy = (play: (given: Through) => Promise<Tab>) =>
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    const proxy = await openProxy(dev.ready.url)
    const { browser, close } = await openBrowser()
    try {
      const tab = await play({ dev, proxy, browser, id: await delivered(dev) })
      tab.hadNoFaults()
      await tab.close()
    } finally {
      await close()
      await proxy.close()
      await dev.stop()
    }
  })

test(
  'a stream that is cut in its midst is told in the strip, what happens is read meanwhile, and it is live again',
  throughProxy(async ({ dev, proxy, browser, id }) => {
    const tab = await openTab(browser, proxy.url, { refusals: ['cut'] })
    await be(tab, 'buyer')
    await open(tab, id)
    await write(dev, id, 'Before the cut')
    await hears(tab, 'Before the cut')
    proxy.cut()
    await isPolling(tab)
    await write(dev, id, 'While it was cut')
    await hears(tab, 'While it was cut')
    assert.is(proxy.streams().open, 0)
    proxy.mend()
    await isLive(tab)
    await write(dev, id, 'After it was mended')
    await hears(tab, 'After it was mended')
    // It would be noticed if it were only read each 2 s: the strip says what it does.
    assert.is(proxy.streams().open, 1)
    await isTheSame(tab)
    return tab
  }),
)

test(
  'a stream that stands still without a word is told as one that is cut, and opened anew',
  throughProxy(async ({ dev, proxy, browser, id }) => {
    const tab = await openTab(browser, proxy.url)
    await tab.page.clock.install()
    await be(tab, 'buyer')
    await open(tab, id)
    if (isLong) {
      const { opened } = proxy.streams()
      await new Promise(resolve => setTimeout(resolve, 45_000))
      assert.equal(proxy.streams(), { open: 1, opened }, 'one on which nothing happens is left alone')
      await isLive(tab)
    }
    proxy.stall()
    await write(dev, id, 'While it stands still')
    await tab.page.clock.fastForward(41_000)
    await isPolling(tab)
    await hears(tab, 'While it stands still')
    proxy.mend()
    await tab.page.clock.fastForward(41_000)
    await isLive(tab)
    await write(dev, id, 'After it was mended')
    await hears(tab, 'After it was mended')
    assert.is(proxy.streams().open, 1)
    await isTheSame(tab)
    return tab
  }),
)

test(
  'a tab that nobody sees gives the stream away after half a minute, and catches up once it is seen',
  throughProxy(async ({ dev, proxy, browser, id }) => {
    const tab = await openTab(browser, proxy.url)
    const { page } = tab
    await page.clock.install()
    await be(tab, 'buyer')
    await open(tab, id)
    const { opened } = proxy.streams()
    await see(tab, false)
    await page.clock.fastForward(29_000)
    await write(dev, id, 'While it was hidden for a short time')
    assert.equal(proxy.streams(), { open: 1, opened })
    await see(tab, true)
    await hears(tab, 'While it was hidden for a short time')
    assert.equal(proxy.streams(), { open: 1, opened }, 'the stream is the same')
    await see(tab, false)
    await page.clock.fastForward(31_000)
    await until('nobody has the stream', () => proxy.streams().open === 0)
    await write(dev, id, 'While it was hidden for long')
    await page.clock.fastForward(10_000)
    assert.is(await page.locator('.talk', { hasText: 'While it was hidden for long' }).count(), 0)
    await see(tab, true)
    await hears(tab, 'While it was hidden for long')
    await isLive(tab)
    await until('it has the stream', () => proxy.streams().open === 1)
    await write(dev, id, 'While it is seen')
    await hears(tab, 'While it is seen')
    await isTheSame(tab)
    return tab
  }),
)

if (isLong)
  test(
    'a marketplace that starts again while a page is open: it says so, keeps what is being written, and goes on',
    inFolder(async folder => {
      const args = ['--port', String(await freePort())]
      const dev = await devOf(folder, args)
      const { browser, close } = await openBrowser()
      let next: Dev | undefined
      try {
        const id = await delivered(dev)
        const tab = await openTab(browser, dev.ready.url, { refusals: ['cut', 503] })
        await be(tab, 'buyer')
        await open(tab, id)
        await tab.page.locator('#content').fill('Not sent yet')
        await dev.stop()
        await isPolling(tab)
        // What is sent meanwhile is not lost.
        await tab.page.getByRole('button', { name: 'Send', exact: true }).click()
        await tab.page.getByRole('alert').first().waitFor()
        assert.is(await tab.page.locator('#content').inputValue(), 'Not sent yet')
        next = await devOf(folder, args)
        await isLive(tab)
        await write(next, id, 'After the start')
        await hears(tab, 'After the start')
        await tab.page.getByRole('button', { name: 'Send', exact: true }).click()
        await hears(tab, 'Not sent yet')
        await isTheSame(tab)
        tab.hadNoFaults()
        await tab.close()
      } finally {
        await close()
        await next?.stop()
      }
    }),
  )

test.run()
