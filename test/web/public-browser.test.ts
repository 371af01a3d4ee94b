// engines: embedded; process: shared; lengths: short, long
/**
 * The public pages in a real browser: without scripts, without a message, readable by everybody, found by search engines. Source: A-307.
 */
import type { BrowserContext, Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { brandOf } from '../../src/settings/brand.ts'
import { openBrowser, violationsOf } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'

const options = { mode: 'serve', rateLimits: 'off', payments: 'sandbox' } as const
const marketplace = await openTestMarketplace(options)
const empty = await openTestMarketplace({ ...options, brand: brandOf('Acme', '#8a1c4a') })
const { url } = marketplace
const builder = await marketplace.join('builder')
const buyer = await marketplace.join('buyer', 100_000)
const poor = await marketplace.join('poor')
const agent = await marketplace.list(builder, { name: 'Swift Translator', description: 'What it does. '.repeat(200) })
for (let at = 0; at < 20; at++) await marketplace.list(builder, { name: `${'Wide'.repeat(20)} \u202e عامل ${at}` })
await builder.client.addSample({
  id: agent.id,
  title: 'A sample',
  input: 'x'.repeat(5_000),
  output: 'y z '.repeat(12_500),
})
for (const rating of [5, 3]) {
  const { id } = await marketplace.draft(buyer, agent, taskFields)
  await buyer.client.submitTask({ id })
  await marketplace.callback(agent, id, { action: 'accept' })
  await marketplace.callback(agent, id, { action: 'deliver', content: 'Done.' })
  await buyer.client.approveTask({ id })
  await buyer.client.submitReview({ id, rating, comment: 'ä'.repeat(2_000) })
}

const { browser, close } = await openBrowser()
/** What should not have happened: messages of the browser, and requests to elsewhere. */
const heard: string[] = []

async function opened(more: Parameters<typeof browser.newContext>[0]): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext(more)
  const page = await context.newPage()
  page.on('console', message => heard.push(`${page.url()}: ${message.text()}`))
  page.on('request', request => {
    if (!request.url().startsWith(url) && !request.url().startsWith(empty.url)) heard.push(`asked: ${request.url()}`)
  })
  return [context, page]
}

/** Runs what scripts a test brings, which the policy of the pages refuses. */
const [context, page] = await opened({ bypassCSP: true })
/** Lets the browser obey the policy, and tell of it. */
const [, plain] = await opened({})
/** As somebody whose browser runs no scripts. */
const [, bare] = await opened({ javaScriptEnabled: false })

const test = suite('public pages in a browser')
test.after(async () => {
  await close()
  await marketplace.close()
  await empty.close()
})

const HIRE = '/agents/swift-translator/hire'

async function signIn(tab: Page, { email, password }: { email: string; password: string }) {
  await tab.context().clearCookies()
  await tab.goto(`${url}/sign-in?to=${HIRE}`)
  await fill(tab, { email, password })
}

async function fill(tab: Page, fields: Readonly<Record<string, string>>) {
  // What a browser holds back by itself is shown when the server refuses it too.
  for (const [name, value] of Object.entries(fields)) await tab.fill(`main [name=${name}]`, value)
  await tab
    .locator('main form')
    .evaluate((form: { noValidate: boolean }) => {
      form.noValidate = true
    })
    .catch(() => {})
  await tab.click('main form button')
}

/** Each page in each of its states: its status, and how to come there. */
const states: Readonly<Record<string, readonly [status: number, go: (tab: Page) => Promise<unknown>]>> = {
  'list, full': [200, tab => tab.goto(`${url}/agents`)],
  'list, searched': [200, tab => tab.goto(`${url}/agents?q=swift&category=writing`)],
  'list, nothing found': [200, tab => tab.goto(`${url}/agents?q=nothing`)],
  'list, empty, with a brand': [200, tab => tab.goto(`${empty.url}/agents`)],
  'list, error': [400, tab => tab.goto(`${url}/agents?page=x`)],
  agent: [200, tab => tab.goto(`${url}/agents/swift-translator`)],
  'agent, none': [404, tab => tab.goto(`${url}/agents/none`)],
  'sign in': [200, tab => tab.goto(`${url}/sign-in`)],
  'sign in, refused': [
    401,
    async tab => {
      await tab.goto(`${url}/sign-in`)
      await fill(tab, { email: 'no@example.org', password: 'wrong' })
    },
  ],
  'sign up': [200, tab => tab.goto(`${empty.url}/sign-up?as=builder`)],
  'sign up, refused': [
    400,
    async tab => {
      await tab.goto(`${url}/sign-up`)
      await fill(tab, { name: 'x', email: 'x', password: 'x' })
    },
  ],
  hire: [200, tab => signIn(tab, buyer)],
  'hire, refused': [
    400,
    async tab => {
      await signIn(tab, poor)
      await fill(tab, { title: 'x', description: 'x', price: 'x' })
    },
  ],
  'hire, sent': [
    200,
    async tab => {
      await signIn(tab, buyer)
      await fill(tab, { title: 'Translate it', description: 'Into German please, and soon.', price: '2.00' })
    },
  ],
}

const looks = [
  ['light', 1440],
  ['dark', 360],
  ['dark', 1440],
  ['light', 320],
] as const

/** Those of one template, with a form that was refused among them. */
const few = [
  'list, full',
  'list, empty, with a brand',
  'agent',
  'sign in',
  'sign up, refused',
  'hire, refused',
  'hire, sent',
]
const reference = [200, (tab: Page) => tab.goto(`${url}/docs`)] as const
const looked = Object.entries({ ...states, reference }).filter(([name]) => isLong || few.includes(name))

for (const [at, [name, [, go]]] of looked.entries()) {
  test(`${name}: no violation in light and dark, wide and narrow, and no second way to scroll`, async () => {
    await context.clearCookies()
    await go(page)
    for (const [colorScheme, width] of isLong ? looks : [looks[at % 2]!]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      const violations = await violationsOf(page, { rules: { 'target-size': { enabled: true } } })
      assert.equal(violations, [], `${colorScheme}, ${width} px`)
      const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
      assert.is(await page.evaluate(overflow), false, `${width} px`)
    }
    await context.clearCookies()
  })
}

/** What a page says of itself, for the checks below. */
const FACTS = `({
  doctype: document.doctype?.name,
  compat: document.compatMode,
  charset: document.characterSet,
  title: document.title,
  description: document.querySelector('meta[name=description]')?.content,
  viewport: document.querySelector('meta[name=viewport]')?.content,
  lang: document.documentElement.lang,
  canonical: [...document.querySelectorAll('link[rel=canonical]')].map(one => one.href),
  robots: document.querySelector('meta[name=robots]')?.content,
  links: [...document.querySelectorAll('a')].map(one => [one.getAttribute('href'), one.textContent.trim()]),
  images: [...document.querySelectorAll('img')].map(one => [one.alt, one.naturalWidth]),
  small: [...document.querySelectorAll('main *')].filter(one => one.textContent.trim() && parseFloat(getComputedStyle(one).fontSize) < 12).map(one => one.outerHTML.slice(0, 100)),
  data: [...document.querySelectorAll('script')].map(one => [one.type, JSON.parse(one.textContent)['@context']]),
  listeners: document.querySelectorAll('[onpaste], [onload], [onclick]').length,
})`

interface Facts {
  doctype?: string
  compat: string
  charset: string
  title: string
  description?: string
  viewport?: string
  lang: string
  canonical: string[]
  robots?: string
  links: [string | null, string][]
  images: [string, number][]
  small: string[]
  data: [string, string][]
  listeners: number
}

/** What Lighthouse asks of best practices and of SEO, by its names. Those of accessibility are axe's. */
const checks: Readonly<Record<string, (facts: Facts) => boolean>> = {
  doctype: ({ doctype, compat }) => doctype === 'html' && compat === 'CSS1Compat',
  charset: ({ charset }) => charset === 'UTF-8',
  'document-title': ({ title }) => title.length > 5,
  'meta-description': ({ description = '' }) => description !== '' && description.length <= 160,
  viewport: ({ viewport = '' }) => /width=device-width, initial-scale=1$/.test(viewport),
  'html-has-lang': ({ lang }) => lang === 'en',
  canonical: ({ canonical, robots }) =>
    canonical.length === (robots ? 0 : 1) && canonical.every(one => one.startsWith('http')),
  'crawlable-anchors': ({ links }) => links.every(([href]) => href !== null && /^(?:\/|#)/.test(href)),
  'link-text': ({ links }) =>
    links.every(([, text]) => text !== '' && !/^(?:here|click here|more|learn more|read more|link)$/i.test(text)),
  'image-alt': ({ images }) => images.every(([, width]) => width > 0),
  'font-size': ({ small }) => small.length === 0,
  'structured-data': ({ data }) =>
    data.every(([type, context]) => type === 'application/ld+json' && context === 'https://schema.org'),
  'paste-preventing-inputs': ({ listeners }) => listeners === 0,
}
const found = ['list, full', 'list, empty, with a brand', 'agent', 'sign in', 'sign up']

for (const [name, [status, go]] of Object.entries(states)) {
  test(`${name}: what Lighthouse asks of practices and of search engines holds, under the policy of the page`, async () => {
    await plain.context().clearCookies()
    heard.length = 0
    const answers: number[] = []
    const note = (reply: { status(): number; request(): { isNavigationRequest(): boolean } }) => {
      if (reply.request().isNavigationRequest()) answers.push(reply.status())
    }
    plain.on('response', note)
    await go(plain)
    plain.off('response', note)
    assert.is(answers.at(-1), status, 'http-status-code')
    const facts = (await plain.evaluate(FACTS)) as Facts
    for (const [check, holds] of Object.entries(checks)) assert.ok(holds(facts), `${check}: ${JSON.stringify(facts)}`)
    // A browser notes an error page as such; nothing else may be said.
    const said = heard.filter(words => !/the server responded with a status of 4\d\d/.test(words))
    assert.equal(said, [], 'errors-in-console, csp-xss, inspector-issues, third-party-cookies')
    assert.is(
      facts.robots === undefined,
      name.startsWith('list, searched') ? false : found.includes(name) && name !== 'list, empty, with a brand',
      'is-crawlable',
    )
  })
}

test('a visitor without scripts finds an agent, makes an account and hires it', async () => {
  await bare.goto(`${url}/`)
  await bare.fill('main [name=q]', 'swift')
  await bare.press('main [name=q]', 'Enter')
  await bare.click('text=Swift Translator')
  await bare.click('aside >> text=Hire Swift Translator')
  await bare.click('text=Create an account')
  await fill(bare, { name: 'Vera', email: 'vera@example.org', password: 'correct horse 9 staple' })
  assert.is(bare.url(), url + HIRE)
  await fill(bare, { title: 'Translate it', description: 'Into German please, and soon.', price: '2.00' })
  assert.match((await bare.textContent('[role=alert]'))!, 'The wallet holds 0.00 to spend')
  assert.is(await bare.inputValue('main [name=title]'), 'Translate it', 'what was typed is kept')
  assert.is(await bare.getAttribute('main >> text=Put money in', 'href'), '/console/wallet')
  const vera = (await marketplace.admin.client.adminListUsers({ limit: 100 })).items.find(
    ({ name }) => name === 'Vera',
  )!
  assert.ok(vera)
  await bare.click('text=Sign out')
  assert.is(bare.url(), `${url}/agents`)
})

test('printed, an agent has all of its samples, in light', async () => {
  await page.goto(`${url}/agents/swift-translator`)
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  const heights = (await page.evaluate(
    '[...document.querySelectorAll(".sample pre")].map(one => [one.scrollHeight, one.clientHeight])',
  )) as [number, number][]
  assert.is(heights.length, 2)
  for (const [whole, shown] of heights) assert.is(whole, shown)
  assert.is(await page.evaluate('getComputedStyle(document.querySelector("h1")).color'), 'rgb(21, 25, 28)')
  assert.is(await page.locator('nav[aria-label=Site]').isVisible(), false)
  await page.emulateMedia({ media: 'screen' })
})

test.run()
