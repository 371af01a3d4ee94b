/** A tab of the real browser at a console. Whatever the browser complains of, and every request to elsewhere, is a fault. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { violationsOf } from '../support/browser.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** What the browser has complained of so far, and what it has asked of others. */
  readonly faults: readonly string[]
  /** Goes to an address behind `/console`, and waits for its heading. */
  to(path: string): Promise<void>
  /** The same from a page of the console, without loading it anew. */
  follow(path: string): Promise<void>
  /** Presses keys, one after another. */
  press(...keys: readonly string[]): Promise<void>
  /** Waits for words on the page. */
  sees(words: string | RegExp): Promise<void>
  /** Changes the window and the colours, without loading anything. */
  as(look: Look): Promise<void>
  /** Fails if anything is wrong for who cannot see, or sees little. */
  isAccessible(what: string, judged?: keyof typeof JUDGED): Promise<void>
  /** Fails if the browser complained, or asked somebody else. `meant`: of what a test makes it complain. */
  hadNoFaults(meant?: RegExp): void
  close(): Promise<void>
}

export interface Look {
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
}

interface TabOptions extends Partial<Look> {
  /** Responses that the test provokes, and connections that it cuts: the browser writes each down as an error. */
  refusals?: readonly Refused[]
}

type Refused = number | 'cut'

export type Side = 'buyer' | 'builder' | 'admin'
const KEYS = { builder: '1', buyer: '2', admin: '3' } as const

/** Signs in by the keys of a simulator, on a page that all have. Contexts of a browser share what pages keep, so somebody else may be signed in. */
export async function be(tab: Tab, side: Side): Promise<void> {
  await tab.to('/settings')
  await tab.page.locator('.who, .pick-one').waitFor({ state: 'attached' })
  await isRead(tab, 'signing in')
  await tab.press(KEYS[side])
  await tab.page
    .locator(`.who [aria-pressed=true]:text-is("${side[0]!.toUpperCase()}${side.slice(1)}")`)
    .waitFor({ state: 'attached' })
  await isRead(tab, 'being somebody else')
}

/** Signs in to a deployment at an address, as people do. */
export async function signIn(
  { page, to, press }: Tab,
  { email, password }: { readonly email: string; readonly password: string },
  path: string,
): Promise<void> {
  await to(path)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await press('Enter')
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().waitFor()
}

/** Waits until nothing loads any more. */
export const isRead = ({ page }: Tab, what: string) =>
  until(`${what} is read`, async () => (await page.locator('.late, [aria-busy=true]').count()) === 0)

/** Those that no test has closed: it failed. */
const open = new Set<Page>()

/** Tells what a test that failed saw last, and closes it. For `after.each`. */
export async function tellWhatStandsOpen(): Promise<void> {
  for (const page of open) {
    const seen = await page.evaluate(
      '[location.href, "focus: " + document.activeElement?.outerHTML.slice(0, 200), ...[document.querySelector("dialog[open]"), document.querySelector("main")].map(part => part?.innerText.slice(0, 1500))].join("\\n")',
    )
    console.log(`The page when the test ended:\n${seen}`)
    await page.close()
  }
}

const HEIGHT = 900

/** What of a page axe judges. */
const JUDGED = {
  all: {},
  /** Of a page that was judged in other colours. */
  colours: { runOnly: ['color-contrast', 'link-in-text-block'] },
  /** Those of the reader are not ours. */
  'all but colours': { rules: { 'color-contrast': { enabled: false } } },
}

/** The heading of a page whose code is there. */
const DRAWN = 'h1:not(.coming h1)'

/** Notes when a page that is there loses its heading, if only for a moment: what is read aloud, and a reader's focus, are lost with it. */
const WATCH_HEADING = `new MutationObserver(() => {
  const has = document.querySelector('h1') !== null
  if (window.hadHeading && !has && document.querySelector('main')) console.error('No heading at ' + location.pathname)
  window.hadHeading = has
}).observe(document, { childList: true, subtree: true })`

/** Nobody is signed in at first, and somebody who was may be so no more. */
const USUAL = [401]

export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<Tab> {
  const { width = 1440, colorScheme = 'light', refusals = [] } = options
  const context = await browser.newContext({
    viewport: { width, height: HEIGHT },
    colorScheme,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  return tabIn(context, url, [...USUAL, ...refusals])
}

/** Another tab of the same browser. */
export async function tabIn(context: BrowserContext, url: string, expected: readonly Refused[] = USUAL): Promise<Tab> {
  const page = await context.newPage()
  open.add(page)
  page.once('close', () => open.delete(page))
  await page.addInitScript(WATCH_HEADING)
  const faults: string[] = []
  page.on('console', message => {
    const text = message.text()
    const refused = /net::ERR_/.test(text) ? 'cut' : Number(/responded with a status of (\d+)/.exec(text)?.[1])
    if (!expected.includes(refused)) faults.push(`${message.type()}: ${text} ${message.location().url}`)
  })
  page.on('pageerror', error => faults.push(String(error.stack)))
  page.on('dialog', dialog => {
    faults.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', request => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`asked ${request.url()}`)
  })
  const sees = (words: string | RegExp) => page.getByText(words).first().waitFor()
  return {
    page,
    context,
    faults,
    sees,
    async to(path) {
      await page.goto(`${url}/console${path}`)
      await page.locator(DRAWN).first().waitFor()
    },
    async follow(path) {
      await page.evaluate(
        `Object.assign(document.body.appendChild(document.createElement('a')), { href: ${JSON.stringify(`/console${path}`)} }).click()
         document.body.lastElementChild.remove()
         new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))`,
      )
      await page.locator(DRAWN).first().waitFor()
    },
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key)
    },
    async as({ width, colorScheme }) {
      await page.setViewportSize({ width, height: HEIGHT })
      await page.emulateMedia({ colorScheme })
    },
    async isAccessible(what, judged = 'all') {
      assert.equal(await violationsOf(page, JUDGED[judged]), [], what)
      const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      assert.is(await page.evaluate(overflow), false, `${what} is wider than its window`)
    },
    hadNoFaults: meant =>
      assert.equal(
        faults.filter(fault => !meant?.test(fault)),
        [],
      ),
    close: () => page.close(),
  }
}
