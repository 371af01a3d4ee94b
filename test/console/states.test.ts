// engines: embedded; process: own; lengths: short, long
/**
 * Each page of the console in a real browser, in each of its states: with nothing on it, with what people do and write, while the marketplace
 * fails, and while nobody answers. axe finds nothing, what people wrote is text, and what fails is said where it fails.
 */
import type { Browser, Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { pageAt, pages } from '../../src/console/pages.ts'
import { devOf, hire } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { openMistakenAgent } from './agent.ts'
import { doThings, type Known } from './evil.ts'
import { tabThrough } from './keys.ts'
import { be, isRead, type Look, openTab, type Side, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('states')
test.after.each(tellWhatStandsOpen)

/** The width of a sheet, in pixels. */
const PAPER = 640
const SIDES = ['buyer', 'builder', 'admin'] as const

const NOTHING: Known = Object.fromEntries(pages.map(({ path }) => [path.split('/')[1]!, ['nothing', 'nothing']]))

function addressOf(path: string, known: Known): string | null {
  const [, first = '', ...parts] = path.split('/')
  if (parts.length > 0 && parts[0]!.startsWith(':') && known[first] === null) return null
  let at = 0
  const rest = parts.map(part => {
    if (!part.startsWith(':')) return part
    const value = known[first]?.[at++]
    assert.ok(value !== undefined, `This test does not know what ${part} of ${path} is`)
    return value
  })
  return ['', first, ...rest].join('/')
}

/** The pages of a side: those that nobody else has, and on the long way all that it may see. */
const pagesOf = (side: Side) =>
  pages.filter(
    ({ path, role }) => path === '/' || (role ?? 'buyer') === side || (isLong && (!role || side === 'admin')),
  )

/**
 * One after another without loading a page anew, and the other way round in every second state: a page is opened in any of them. On the
 * long way, the dark colours are seen in the narrow window.
 */
const LOOKS: readonly [Look, ...Look[]] = isLong
  ? [
      { width: 1440, colorScheme: 'light' },
      // A window of 1,280 pixels at 400 %.
      { width: 320, colorScheme: 'dark' },
    ]
  : [{ width: 1440, colorScheme: 'dark' }]

interface State {
  readonly words: string
  readonly known: Known
  readonly refusals: readonly (number | 'cut')[]
  readonly before?: (tab: Tab) => Promise<unknown>
  /** In each look. */
  readonly check?: (tab: Tab, what: string) => Promise<void>
  /** After all looks. */
  readonly isMended?: (tab: Tab, what: string) => Promise<void>
  /** The looks the other way round. */
  readonly isTurned?: boolean
  /** Each page by its address. */
  readonly isOpened?: boolean
  /** All unless given. */
  readonly sides?: readonly Side[]
  /** Whether it is looked at on paper and in forced colours, too. */
  readonly isLooked?: boolean
  /** Of what the browser has to complain. */
  readonly fault?: RegExp
}

/** Printed: in light whoever likes the dark, all that is told and nothing that is pressed, none of it over another or cut off. */
async function onPaper(tab: Tab, what: string, isJudged: boolean): Promise<void> {
  const { page } = tab
  await page.evaluate(
    `document.documentElement.dataset.theme = 'dark'
     globalThis.told = [...document.querySelectorAll('main :is(h1, h2, h3, p, th, td, li, dt, dd, .lab)')]
       .filter(one => one.checkVisibility() && !one.closest('.bar, .acts, .card > form'))`,
  )
  await page.emulateMedia({ media: 'print' })
  // What stands over a narrow window stands in its place.
  await page.locator('dialog[open]').waitFor({ state: 'detached' })
  const faults = await page.evaluate(`(() => {
    const nameOf = one => one.tagName + '.' + one.className + ' ' + one.textContent.slice(0, 80)
    const seen = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() && !one.closest('svg, .vh'))
    const style = new Map(seen.map(one => [one, getComputedStyle(one)]))
    const cut = (one, { overflowX, overflowY }) =>
      (overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1) || (overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1)
    return [
      ...(getComputedStyle(document.documentElement).colorScheme === 'light' ? [] : ['in the dark']),
      ...told.filter(one => one.isConnected && !one.checkVisibility()).map(one => 'is missing: ' + nameOf(one)),
      ...seen.filter(one => one.matches('nav, button:not(.go, .att button), .strip, .top, .bar, .toasts')).map(one => 'is left: ' + nameOf(one)),
      ...seen.filter(one => /sticky|fixed/.test(style.get(one).position)).map(one => 'stands over others: ' + nameOf(one)),
      ...seen.filter(one => !one.matches('input, textarea, select') && cut(one, style.get(one))).map(one => 'is cut off: ' + nameOf(one)),
    ]
  })()`)
  assert.equal(faults, [], `${what}, printed`)
  // No paper is as narrow as a telephone.
  if (isJudged && page.viewportSize()!.width >= PAPER) await tab.isAccessible(`${what}, printed`)
  await page.emulateMedia({ media: 'screen' })
  await page.evaluate('delete document.documentElement.dataset.theme')
}

/** The reader's own colours: what is chosen, what has the focus and what is pressed differs from what is not, without grounds. */
async function inForcedColours(tab: Tab, what: string, isJudged: boolean): Promise<void> {
  const { page } = tab
  await page.emulateMedia({ forcedColors: 'active' })
  const faults = await page.evaluate(`(() => {
    const nameOf = one => one.outerHTML.slice(0, 120)
    const look = one => { const { backgroundColor, color, outlineStyle } = getComputedStyle(one); return backgroundColor + color + outlineStyle }
    const seen = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility())
    const edge = one => parseFloat(getComputedStyle(one).borderTopWidth) > 0
    const chosen = seen('[aria-pressed=true], [aria-selected=true], .side [aria-current], main [aria-current]')
    const same = one => [...one.parentElement.children].filter(other => other !== one && other.tagName === one.tagName && look(other) === look(one))
    const link = seen('main a[href], main button, .side a')[0]
    link.focus()
    return [
      ...chosen.filter(one => same(one).length > 0).map(one => 'is not seen as chosen: ' + nameOf(one)),
      ...seen('main .b:not(.flat), main input:not([type=checkbox], [type=radio], [type=range]), main select, main textarea, .card').filter(one => !edge(one)).map(one => 'has no edge: ' + nameOf(one)),
      ...(matchMedia('(forced-colors: active)').matches ? [] : ['the colours are not forced']),
    ]
  })()`)
  assert.equal(faults, [], `${what}, in forced colours`)
  if (isJudged) await tab.isAccessible(`${what}, in forced colours`, 'all but colours')
  await page.emulateMedia({ forcedColors: 'none' })
}

/** All pages of a side, each opened once and seen in all looks: the first by its address, and the others by links, unless `isOpened`. */
async function asOne(url: string, browser: Browser, side: Side, state: State) {
  const { words, known, refusals, before, fault, isMended, isTurned, isOpened } = state
  const [first = LOOKS[0], ...others] = isTurned ? [...LOOKS].reverse() : LOOKS
  const tab = await openTab(browser, url, { ...first, refusals })
  await be(tab, side)
  await before?.(tab)
  for (const { path } of pagesOf(side)) {
    const address = addressOf(path, known)
    if (address === null) continue
    const what = `${path} of the ${side}, ${words}`
    await tab.as(first)
    await (path === '/' || isOpened ? tab.to(address) : tab.follow(address))
    await lookAt(tab, side, what, first, state)
    let { width } = first
    for (const look of others) {
      await tab.as(look)
      await lookAt(tab, side, what, look, state, look.width === width)
      ;({ width } = look)
    }
    await isMended?.(tab, what)
  }
  tab.hadNoFaults(fault)
  if (fault) assert.ok(tab.faults.length > 0, `${words}: nobody has noticed`)
  await tab.close()
}

/** `isKnown`: it was seen as wide. Then nothing but colours differs. */
async function lookAt(
  tab: Tab,
  side: Side,
  page: string,
  look: Look,
  { fault, check, isLooked }: State,
  isKnown = false,
) {
  const what = `${page}, ${look.width} ${look.colorScheme}`
  await isRead(tab, what)
  // What has no fields has no names either.
  if (!fault) await tab.isAccessible(what, isKnown ? 'colours' : 'all')
  assert.is.not(await tab.page.title(), 'acted')
  assert.equal(await tab.page.evaluate(TURNING), [], `${what} is turned`)
  await check?.(tab, what)
  if (!isLooked) return
  if (!isKnown) await onTheWay(tab, what, side)
  await onPaper(tab, what, isLong && !isKnown)
  await inForcedColours(tab, what, isLong && !isKnown)
}

/** What turns the letters after it stands alone, or not as itself. */
const TURNING = `(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const faults = []
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    if (/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(node.data) && !node.parentElement.closest('bdi, .vh, script, style, option, textarea'))
      faults.push(node.parentElement.outerHTML.slice(0, 160))
  return faults
})()`

/** Each control is reached by Tab and seen to have the focus, and no link leads to a page that is not for who sees it. */
async function onTheWay(tab: Tab, what: string, side: Side): Promise<void> {
  const links = (await tab.page.evaluate(
    "[...document.querySelectorAll('a[href^=\"/console\"]')].map(({ pathname }) => pathname.slice('/console'.length) || '/')",
  )) as string[]
  const others = links.filter(path => {
    const role = pageAt({ path })?.page.role
    return side !== 'admin' && role === 'admin'
  })
  assert.equal(others, [], `${what} leads to what is not for the ${side}`)
  // A narrow window has its own ways.
  if (isLong && tab.page.viewportSize()!.width > PAPER)
    assert.ok((await tabThrough(tab)) > 10, `${what}: Tab stops too early`)
}

test(
  'every page is accessible, and says what is wrong, whether it is empty or full or the marketplace fails',
  inFolder(async folder => {
    const agent = await openMistakenAgent()
    const dev = await devOf(folder, ['--ephemeral', '--forward-to', agent.url])
    const { url, accounts, agents } = dev.ready
    agent.mend()
    const { webhookSecret: secret } = agents.find(({ slug }) => slug === 'my-agent')!
    agent.begin({ secret, key: accounts.builder!.apiKey, api: url })
    await dev.said(/^my-agent can be hired/)
    const { browser, close } = await openBrowser()
    const everywhere = async (state: State) => {
      for (const side of state.sides ?? SIDES) await asOne(dev.ready.url, browser, side, state)
    }
    try {
      if (isLong)
        await everywhere({
          words: 'with nothing',
          known: NOTHING,
          refusals: [400, 404],
          isTurned: true,
          isOpened: true,
        })
      const known = await doThings(dev, agent)
      await everywhere({ words: 'with something', known, refusals: [], isLooked: true })
      for (const how of isLong ? (['500', 'cut'] as const) : (['500'] as const)) {
        const failing = failuresOf(how)
        await everywhere({
          ...{ words: `while the answer is ${how}`, known, refusals: [500, 'cut'] },
          ...(!isLong && { sides: ['buyer'] as const }),
          ...failing,
          isTurned: how === 'cut',
        })
      }
      for (const [words, change, one] of SHAPES)
        await everywhere({
          ...{ words, known, refusals: [], fault: /(?:Type|Range)Error|: Expected length, "NaN/, ...othersOf(change) },
          ...(!isLong && { sides: [one] }),
        })
    } finally {
      await close()
      agent.close()
      await dev.stop()
    }
  }),
)

const SENTENCE = 'The disk of the marketplace is full.'
/** These ask by themselves, again and again: who is signed in, the stream, the strip, and the numbers beside the names of pages. */
const ALWAYS = /\/api\/(?:auth\/me|stream|dev\/status|admin\/queues)$|[?&]limit=1(?:&|$)/

/** Lets the marketplace fail for a tab, except that it knows who is signed in. */
function failuresOf(how: '500' | 'cut') {
  let asked = 0
  const before = async ({ page }: Tab) => {
    page.on('framenavigated', () => {
      asked = 0
    })
    await begin(page)
  }
  const begin = (page: Page) =>
    page.route(/\/api\//, route => {
      const { pathname, search } = new URL(route.request().url())
      if (pathname === '/api/auth/me') return route.continue()
      if (!ALWAYS.test(pathname + search)) asked++
      if (how === 'cut') return route.abort('connectionrefused')
      const headers = { 'x-request-id': 'req_of_the_test' }
      const json = { success: false, error: SENTENCE }
      return route.fulfill({ status: 500, headers, json })
    })
  const saidOn = (page: Page) => page.locator('main [role=alert]')
  /** Each page that asked for something says what it could not read, why, and what to do. */
  const check = async ({ page }: Tab, what: string) => {
    if (asked === 0) return
    // In another width it may be drawn anew, and ask again.
    await until(`${what}: something is said`, async () => (await saidOn(page).count()) > 0)
    const words = await saidOn(page).allTextContents()
    for (const text of words) {
      assert.match(text, /could not be/, what)
      if (how === '500') assert.ok(text.includes(SENTENCE) && text.includes('req_of_the_test'), `${what}: ${text}`)
    }
  }
  /** It shows it once it can be read. */
  const isMended = async ({ page }: Tab, what: string) => {
    if (asked === 0) return
    const said = saidOn(page)
    const words = await said.allTextContents()
    await page.unroute(/\/api\//)
    // Some is read anew without being told to, as the stream is there again.
    await until(`${what} can be read again`, async () => {
      await page.evaluate("for (const again of document.querySelectorAll('main [role=alert] button')) again.click()")
      return !(await said.allTextContents()).some(text => words.includes(text))
    })
    await begin(page)
  }
  return { before, check, isMended }
}

/** An answer of which each row has lost its fields. */
const emptied = (value: unknown, isRow = false): unknown => {
  if (Array.isArray(value)) return value.map(one => emptied(one, true))
  if (typeof value !== 'object' || value === null) return value
  return isRow ? {} : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, emptied(one)]))
}

/** The side that sees it on the short way. An administrator has parts whose rows their page has asked for. */
const SHAPES: readonly (readonly [words: string, change: (data: unknown) => unknown, one: Side])[] = [
  ['while answers have no fields', () => ({}), 'buyer'],
  ['while rows have no fields', emptied, 'admin'],
]

/** Lets the marketplace give answers that nobody expects, except of who is signed in. */
function othersOf(change: (data: unknown) => unknown) {
  const before = ({ page }: Tab) =>
    page.route(/\/api\//, async route => {
      const { pathname } = new URL(route.request().url())
      if (pathname === '/api/auth/me' || pathname === '/api/stream') return route.continue()
      try {
        const response = await route.fetch()
        const { data, ...rest } = await response.json()
        await route.fulfill({ response, json: { ...rest, data: change(data) } })
      } catch {
        // It is no JSON, or the page was left.
        await route.continue().catch(() => {})
      }
    })
  /** The ways on are there. */
  const check = async ({ page }: Tab, what: string) => {
    assert.ok((await page.locator('.side a').count()) > 5 && (await page.locator('.strip').isVisible()), what)
    assert.ok((await page.locator('main').textContent())!.trim().length > 10, `${what} is blank`)
  }
  /** The page is there once it can be drawn. */
  const isMended = async (tab: Tab, what: string) => {
    const { page } = tab
    await page.unroute(/\/api\//)
    // Some pages say rightly that there is nothing of this name.
    const said = page.locator('main [role=alert]', { hasText: 'could not be shown' })
    await until(`${what} can be drawn again`, async () => {
      await page.evaluate("for (const again of document.querySelectorAll('main [role=alert] button')) again.click()")
      await isRead(tab, what)
      return (await said.count()) === 0
    })
    await before(tab)
  }
  return { before, check, isMended }
}

/** What a page must not do, as scripts, and what is told of it. */
const BREAKS: readonly (readonly [script: string, told: RegExp])[] = [
  ["document.body.setAttribute('style', 'color: red')", /style-src/],
  ["setTimeout(() => { document.body.innerHTML = '<p>Hello</p>' })", /TrustedHTML/],
  [
    "document.head.append(document.createElement('script').appendChild(new Text('acted()')).parentNode)",
    /Trusted|script-src/,
  ],
  ["void fetch('http://127.0.0.1:1/').catch(() => {})", /connect-src/],
  ["new Image().src = 'http://127.0.0.1:1/image.png'", /img-src/],
  ["console.info('Hello')", /info: Hello/],
  ["setTimeout(() => { throw new Error('Something is undefined') })", /Something is undefined/],
  ["void Promise.reject(new Error('Nobody waits'))", /Nobody waits/],
]

if (isLong) {
  test(
    'whatever the browser has to complain of is noticed',
    inFolder(async folder => {
      const dev = await devOf(folder, ['--ephemeral'])
      const { browser, close } = await openBrowser()
      try {
        const tab = await openTab(browser, dev.ready.url)
        await tab.to('/sign-in')
        tab.hadNoFaults()
        for (const [script, told] of BREAKS) {
          await tab.page.evaluate(`${script}; undefined`)
          await until(`what is told of ${script}`, () => tab.faults.some(fault => told.test(fault)))
        }
        await tab.close()
      } finally {
        await close()
        await dev.stop()
      }
    }),
  )

  test(
    'who is told to wait asks again by himself, without a word where something is shown',
    inFolder(async folder => {
      const dev = await devOf(folder, ['--ephemeral'])
      const { browser, close } = await openBrowser()
      try {
        const agentId = dev.ready.agents[0]!.id
        await hire(dev, agentId)
        const tab = await openTab(browser, dev.ready.url, { refusals: [429] })
        const { page } = tab
        await be(tab, 'buyer')
        let isBusy = true
        let refused = 0
        let served = 0
        await page.route(/\/api\/tasks\?/, route => {
          if (!isBusy) return route.continue().then(() => void served++)
          refused++
          const json = { success: false, error: 'Too many requests; try again in 1 s' }
          return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json })
        })
        const alert = page.locator('main [role=alert]', { hasText: 'Too many requests' })
        await tab.to('/tasks')
        await alert.waitFor()
        isBusy = false
        await tab.sees('Try it out')
        await alert.waitFor({ state: 'detached' })
        isBusy = true
        refused = 0
        const before = served
        await hire(dev, agentId)
        await until('two refusals', () => refused > 1)
        assert.is(await alert.count(), 0)
        isBusy = false
        await until('it is read anew', () => served > before)
        tab.hadNoFaults()
      } finally {
        await close()
        await dev.stop()
      }
    }),
  )
}

test.run()
