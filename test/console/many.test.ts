// engines: embedded; process: own; lengths: long
/** Ten thousand rows on each page of the console that lists, thousands on those that scroll: a bounded part of them is made, all can be reached, and what is loaded is printed. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { pages } from '../../src/console/pages.ts'
import { devOf } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { crowdStatements, userId } from '../support/crowd.ts'
import { openTestMarketplace, type TestMarketplace } from '../support/marketplace.ts'
import { until } from '../support/patience.ts'
import { crowd } from './crowd.ts'
import { be, isRead, type Look, openTab, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('many')

const ROWS = 10_000
/** Of what is read to its end, more than once: so few that a full log of the simulator drops none of it meanwhile. */
const READ = 2_000
/** Of a page of a list. */
const PAGE = 20
/** More than stand on three screens, as rows and as elements. */
const [MADE, ELEMENTS] = [300, 6_000]
/** Of all answers that a page of a list asks for, in bytes. */
const LOADED = 512 * 1024

/** Each in the other colours, too. */
const LOOKS = [
  { width: 1440, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
] as const

async function isLight({ page }: Tab, what: string): Promise<void> {
  const elements = await page.locator('main *').count()
  assert.ok(elements < ELEMENTS, `${what} makes ${elements} elements`)
}

/** One of two who trade with each other, so that each has ten thousand tasks. Of an administrator's rights. */
const SOMEBODY = { id: userId(1), email: 'p1@crowd.example' }
/** Lists of what nobody has many of. */
const SHORT: readonly string[] = ['/agents', '/budgets']

async function settle({ market, world, admin }: TestMarketplace): Promise<void> {
  // A third of the agents can't be hired.
  const statements = crowdStatements({ tasks: 2 * ROWS, traders: 2, people: 1.6 * ROWS, now: world.now() })
  await market.db.write(async tx => {
    for (const sql of statements) await tx.run(sql)
    // They tell nothing.
    await tx.run('DELETE FROM agent_reports')
    await tx.run('UPDATE notifications SET user_id = $1', [SOMEBODY.id])
    await tx.run(
      `INSERT INTO notifications (id, user_id, type, agent_id, message, data, created_at)
       SELECT id || copy, user_id, type, agent_id, message, data, created_at
       FROM notifications, (SELECT 1 AS copy UNION ALL SELECT 2) copies`,
    )
    await tx.run(
      `UPDATE users SET is_admin = 1, password_hash = (SELECT password_hash FROM users WHERE id = $2) WHERE id = $1`,
      [SOMEBODY.id, admin.id],
    )
  })
}

/** Contexts of a browser may share who is signed in: so each look has a browser of its own. */
async function inEachLook(url: string, see: (tab: Tab, look: Look) => Promise<void>): Promise<void> {
  for (const look of LOOKS) {
    const { browser, close } = await openBrowser()
    try {
      const tab = await openTab(browser, url, look)
      await see(tab, look)
      tab.hadNoFaults()
      await tab.close()
    } finally {
      await tellWhatStandsOpen()
      await close()
    }
  }
}

test('a list of ten thousand rows is as light as one of twenty, to its last page', async () => {
  const marketplace = await openTestMarketplace({ mode: 'serve', payments: 'sandbox', rateLimits: 'off' })
  try {
    await settle(marketplace)
    await inEachLook(marketplace.url, async (tab, look) => {
      const { page } = tab
      await tab.to('/settings')
      await page.getByLabel('Email').fill(SOMEBODY.email)
      await page.getByLabel('Password').fill(marketplace.admin.password)
      await tab.press('Enter')
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
      for (const { path, only } of pages) if (only !== 'dev' && !path.includes(':')) await lookAtList(tab, path, look)
      for (const search of ['/users?q=person 99', '/hire?q=order', '/tasks?q=letters', '/deliveries?q=letters'])
        await lookAtPart(tab, search, look)
    })
  } finally {
    await marketplace.close()
  }
})

async function lookAtPart(tab: Tab, address: string, look: Look): Promise<void> {
  await tab.to(address)
  await isRead(tab, address)
  await tab.isAccessible(address)
  await tab.as({ ...look, colorScheme: look.colorScheme === 'dark' ? 'light' : 'dark' })
  await tab.isAccessible(`${address}, in the other colours`, 'colours')
  await tab.as(look)
  await isLight(tab, address)
  const loaded = await tab.page.evaluate(
    "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/')).reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)",
  )
  assert.ok(Number(loaded) < LOADED, `${address} loads ${loaded} bytes`)
}

async function lookAtList(tab: Tab, path: string, look: Look): Promise<void> {
  await lookAtPart(tab, path, look)
  const list = tab.page.locator('table[aria-rowcount]')
  if ((await list.count()) === 0 || SHORT.includes(path)) return
  const many = Number(await list.getAttribute('aria-rowcount')) - 1
  assert.ok(many >= ROWS, `${path} has ${many} rows`)
  await lookAtPart(tab, `${path}?page=${ROWS / PAGE}`, look)
  assert.is(await list.locator(`[aria-rowindex="${ROWS + 1}"]`).count(), 1, `row ${ROWS} of ${path}`)
}

test(
  'of thousands of rows on one page those in sight are made, all can be reached, and all are printed',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    try {
      const id = await crowd(dev, READ)
      await inEachLook(dev.ready.url, async tab => {
        await be(tab, 'admin')
        await tab.to('/')
        // More has happened.
        await tab.sees(/^[\d,]{5,} kept here\.$/)
        await walk(tab, '[data-row]', 'the stream')
        await lookAtHistory(tab, id)
      })
    } finally {
      await dev.stop()
    }
  }),
)

/** Pixels of one frame: a wheel that is turned fast. */
const STEP = 400
/** What has come near is made, and not the screens about it anew. */
const MADE_AT_ONCE = 150

/** Scrolls frame by frame as far as its list goes, and tells how many rows one frame made at most, and how many there were at once. */
const scrollAlong = ({ page }: Tab, row: string, by: number) =>
  page.evaluate(
    `new Promise(resolve => {
      const row = ${JSON.stringify(row)}, by = ${by}
      const list = document.querySelector(row).parentElement
      const scrolls = one => one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY === 'auto'
      const area = [list, document.querySelector('.main')].find(scrolls) ?? document.scrollingElement
      let now = 0, atOnce = 0, made = 0
      new MutationObserver(all => {
        for (const { addedNodes } of all) for (const node of addedNodes) if (node.matches?.(row)) now++
      }).observe(list, { childList: true })
      if (area === list) list.scrollIntoView({ block: 'end' })
      const step = () => {
        atOnce = Math.max(atOnce, now)
        now = 0
        made = Math.max(made, list.children.length)
        const before = area.scrollTop
        const { top, bottom } = list.getBoundingClientRect()
        const isThere = area !== list && (by > 0 ? bottom <= innerHeight : top >= 0)
        if (!isThere) area.scrollTop += by
        if (isThere || area.scrollTop === before) resolve({ atOnce, made })
        else requestAnimationFrame(step)
      }
      step()
    })`,
  ) as Promise<{ atOnce: number; made: number }>

/** Whether this one is in sight. */
const isInSight = ({ page }: Tab, selector: string) =>
  page.evaluate(`(() => {
    const box = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect()
    return box !== undefined && box.bottom > 0 && box.top < innerHeight
  })()`)

/** From its first row to its last and back: no frame makes many, and both ends come into sight. */
async function walk(tab: Tab, row: string, what: string): Promise<void> {
  for (const [by, end] of [
    [STEP, ':last-child'],
    [-STEP, ':first-child'],
  ] as const) {
    const { atOnce, made } = await scrollAlong(tab, row, by)
    assert.ok(atOnce < MADE_AT_ONCE && made < MADE, `${what}: a frame made ${atOnce} rows, of ${made}`)
    // More may have come meanwhile: whoever wants the end scrolls on.
    await until(`${what} at its ${end}`, async () => {
      if (await isInSight(tab, row + end)) return true
      await scrollAlong(tab, row, by)
      return false
    })
    await isLight(tab, what)
    await tab.isAccessible(`${what} at its ${end}`)
  }
}

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
  assert.ok(many > READ, `${many} rows`)
  await walk(tab, '.ev', 'the history')
  // The keyboard's way to the end is one step.
  await page.locator('#main').focus()
  await tab.press('Control+End')
  await page.locator('.story .pager').scrollIntoViewIfNeeded()
  await until('the last row', () => isInSight(tab, '.ev:last-child'))
  const hash = await page.locator('.ev:last-child a').first().getAttribute('href')
  await tab.to(`/tasks/${id}${hash}`)
  await until('the row of the address', () => isInSight(tab, '.ev[aria-current]'))
  await tab.to(`/tasks/${id}?as=list`)
  await isWhole(tab)
  await page.locator('.story [aria-rowindex="2"]').waitFor()
  await isLight(tab, 'the history as a list')
  assert.is(await page.locator('.story table').getAttribute('aria-rowcount'), String(many + 1))
  await tab.to(`/tasks/${id}`)
  await isWhole(tab)
  await page.emulateMedia({ media: 'print' })
  await until('all rows on paper', async () => (await page.locator('.ev').count()) >= many)
  await page.emulateMedia({ media: 'screen' })
  await until('few rows again', async () => (await page.locator('.ev').count()) < MADE)
}

test.run()
