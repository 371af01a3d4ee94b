// engines: embedded; process: own; lengths: short, long
/** What each side can do on its pages, pressed as people do: it is done at the marketplace, and a refusal loses nothing that was written. */
import type { Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { devOf } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { type ListedAgent, openTestMarketplace, type TestMarketplace, type TestUser } from '../support/marketplace.ts'
import { inTime, until } from '../support/patience.ts'
import { openPostOffice } from '../support/post-office.ts'
import { openMistakenAgent } from './agent.ts'
import { userOf } from './crowd.ts'
import { tabTo } from './keys.ts'
import { be, isRead, openTab, signIn, type Tab, tellWhatStandsOpen } from './tab.ts'

const test = suite('acts')
test.after.each(tellWhatStandsOpen)

const HOUR_MS = 3_600_000
/** The clock goes on while it is asked to be moved. */
const ON_THE_WAY_MS = 60_000
const DAYS_MS = 72 * HOUR_MS

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()
const card = (page: Page, name: string) => page.getByRole('region', { name })
const dialog = (page: Page) => page.getByRole('dialog')
/** The dialog says what was wrong, and leads to the field. It stays open, with what was written. */
async function isRefused(page: Page, label: string): Promise<void> {
  await dialog(page).getByRole('alert').getByRole('link', { name: label }).click()
  await page.locator(':focus').and(page.getByLabel(label)).waitFor()
}
const isDone = (page: Page) => dialog(page).waitFor({ state: 'detached' })

interface Place {
  readonly market: TestMarketplace
  readonly builder: TestUser
  readonly buyer: TestUser
  readonly agent: ListedAgent
}

/** A deployment without a bank, with an agent, and with a task that was approved and paid. */
async function openPlace(): Promise<Place & { readonly task: string }> {
  const market = await openTestMarketplace({ mode: 'serve', payments: 'manual', rateLimits: 'off' })
  const [builder, buyer] = [await market.join('bea'), await market.join('bob')]
  const agent = await market.list(builder)
  const { id } = await buyer.client.deposit({ amount: 10_000 })
  await market.admin.client.confirmDeposit({ id })
  const { id: task } = await market.draft(buyer, agent, { agreedPrice: 2_000 })
  await buyer.client.submitTask({ id: task })
  await market.webhooksSent()
  await market.callback(agent, task, { action: 'accept' })
  await market.callback(agent, task, { action: 'deliver', content: 'The work.' })
  await buyer.client.approveTask({ id: task })
  await market.pass(DAYS_MS)
  return { market, builder, buyer, agent, task }
}

async function reviews({ page, to }: Tab, { buyer, agent }: Place, task: string): Promise<void> {
  await to(`/tasks/${task}`)
  await press(page, /^Review/)
  await page.getByLabel('Stars, 1 to 5').fill('4')
  const words = page.getByLabel('In words')
  await words.fill('x'.repeat(2_001))
  await press(page, /^Publish the review/)
  await isRefused(page, 'In words')
  assert.is((await words.inputValue()).length, 2_001)
  await words.fill('Quick, and friendly.')
  await press(page, /^Publish the review/)
  await isDone(page)
  const { items } = await buyer.client.listReviews({ id: agent.id })
  assert.equal(
    items.map(({ rating, comment }) => [rating, comment]),
    [[4, 'Quick, and friendly.']],
  )
}

async function allowsAnAgent(tab: Tab, { buyer, agent }: Place): Promise<void> {
  const { page } = tab
  await tab.to('/budgets')
  await tabTo(tab, page.getByRole('button', { name: 'Allow an agent…' }))
  await tab.press('Enter')
  const name = dialog(page).getByLabel('Agent')
  await name.fill('nobody-of-this-name')
  await dialog(page).getByLabel('In a day').fill('33')
  await tab.press('Enter')
  await dialog(page).getByRole('alert').first().waitFor()
  assert.is(await name.inputValue(), 'nobody-of-this-name')
  await name.fill(agent.id)
  await tab.press('Enter')
  await isDone(page)
  // Whoever has no mouse goes on where he was.
  await page
    .locator(':focus')
    .and(page.getByRole('button', { name: 'Allow an agent…' }))
    .waitFor()
  const [budget, ...others] = (await buyer.client.listBudgets({})).items
  const { maxPerTask, maxDaily, maxMonthly } = budget!
  assert.equal([budget!.agent.id, maxPerTask, maxDaily, maxMonthly], [agent.id, 1_000, 3_300, 50_000])
  assert.is(others.length, 0)
  await press(page, /^Pause/)
  await page.getByRole('button', { name: /^Resume/ }).waitFor()
  assert.is((await buyer.client.listBudgets({})).items[0]!.status, 'paused')
  await press(page, /^Take back…/)
  await tab.press('Enter')
  await isDone(page)
  await until('none is left', async () => (await buyer.client.listBudgets({})).items.length === 0)
}

async function seesWhatMoved({ page, to }: Tab): Promise<void> {
  await to('/wallet')
  const amountOf = (word: string) => page.getByRole('row').filter({ hasText: word }).locator('.amt')
  for (const [word, amount] of [
    ['Held in escrow', '− 20.00'],
    ['Put in', '+ 100.00'],
  ] as const)
    await amountOf(word).getByText(amount, { exact: true }).waitFor()
}

async function sendsOneAgain({ page, to, sees }: Tab, { agent: { sink } }: Place): Promise<void> {
  await to('/deliveries')
  const before = sink.received.length
  await page.getByRole('checkbox', { name: /^Choose task\.approved/ }).check()
  await press(page, 'Resend 1 chosen')
  await sees('1 under way.')
  await until('it has come', () => sink.received.length === before + 1)
}

async function connectsPayouts({ page, to, sees }: Tab, forAdmin: Tab, { builder }: Place): Promise<void> {
  await to('/wallet')
  await press(page, 'Connect a payout account')
  await sees('The marketplace looks at it.')
  await forAdmin.to('/users?q=bea')
  await press(forAdmin.page, 'bea')
  await press(forAdmin.page, 'Connect its payouts')
  await forAdmin.page.getByRole('button', { name: 'Connect its payouts' }).waitFor({ state: 'detached' })
  assert.is((await builder.client.getWallet({})).connectStatus, 'connected')
}

async function asksForAWithdrawal({ page, to, sees }: Tab, { builder }: Place): Promise<void> {
  await to('/wallet')
  await press(page, 'Withdraw…')
  await page.getByLabel('Amount').fill('9000')
  await press(page, /^Take out 9,000\.00/)
  await dialog(page).getByRole('alert').waitFor()
  assert.is(await page.getByLabel('Amount').inputValue(), '9000')
  await page.getByLabel('Amount').fill('7.50')
  await press(page, /^Take out 7\.50/)
  await isDone(page)
  await sees('waits for an administrator to pay it out')
  assert.equal(await stateOfPayments(builder, 'withdrawal'), [[750, 'pending']])
}

const stateOfPayments = async ({ client }: TestUser, type: 'deposit' | 'withdrawal') =>
  (await client.listTransactions({ type })).items.map(({ amount, status }) => [amount, status])

async function rotates({ page, to, sees }: Tab, { market, buyer, builder, agent }: Place): Promise<void> {
  const { slug } = await builder.client.getAgent({ id: agent.id })
  const { id } = await market.draft(buyer, agent)
  await buyer.client.submitTask({ id })
  await to(`/agents/${slug}`)
  await press(page, 'Rotate and copy…')
  await dialog(page)
    .getByRole('button', { name: /^Rotate and copy/ })
    .click()
  await isDone(page)
  await sees('Keep the new secret now.')
  // Where the clipboard is refused to it, it stands there already.
  const show = page.getByRole('button', { name: 'Show it' })
  if (await show.isVisible()) await show.click()
  const secret = (await page.locator('.note .m').textContent())!
  assert.is.not(secret, agent.secret)
  assert.is((await market.callback({ secret }, id, { action: 'accept' })).status, 200, 'it is the secret that counts')
}

async function makesAKey(tab: Tab, { market }: Place): Promise<void> {
  const { page } = tab
  await tab.to('/settings')
  await press(page, 'New…')
  await tab.press('Enter')
  await isRefused(page, 'Name')
  await page.getByLabel('Name').fill('For the night')
  await tab.press('Enter')
  await isDone(page)
  await tab.sees('Copy the new key now.')
  const program = new HttpUser(market.url)
  program.key = (await card(page, 'API keys').locator('code').textContent())!
  const status = async () => (await program.ask('GET', '/api/auth/me', undefined, 'key')).status
  assert.is(await status(), 200)
  await press(page, 'Delete For the night')
  await page.getByRole('button', { name: 'Delete For the night' }).waitFor({ state: 'detached' })
  assert.is(await status(), 401)
}

async function turnsOnASecondFactor(tab: Tab, { market, builder }: Place): Promise<void> {
  const { page } = tab
  await tab.to('/settings')
  await press(page, 'Turn it on…')
  await page.getByLabel('Your password').fill('not the password')
  await tab.press('Enter')
  await dialog(page).getByRole('alert').waitFor()
  assert.is(await page.getByLabel('Your password').inputValue(), 'not the password')
  await page.getByLabel('Your password').fill(builder.password)
  await tab.press('Enter')
  await isDone(page)
  const secret = (await card(page, 'Second factor').locator('code').textContent())!
  const right = totpCode(secret, market.world.realNow())
  await press(page, 'Type the code…')
  await page.getByLabel('A code of the app').fill(String((Number(right) + 1) % 1_000_000).padStart(6, '0'))
  await tab.press('Enter')
  await isRefused(page, 'A code of the app')
  assert.is((await builder.client.getTotp({})).enabled, false)
  await page.getByLabel('A code of the app').fill(right)
  await tab.press('Enter')
  await isDone(page)
  await tab.sees('Keep these recovery codes.')
  const login = { email: builder.email, password: builder.password }
  const elsewhere = new HttpUser(market.url)
  assert.is((await elsewhere.ask('POST', '/api/auth/login', login)).status, 400, 'the password alone does not do')
  const [recoveryCode] = await card(page, 'Second factor').locator('.note li').allTextContents()
  assert.is((await elsewhere.ask('POST', '/api/auth/login', { ...login, recoveryCode })).status, 200)
  await tab.isAccessible('recovery codes')
}

async function paysAndRefuses({ page, to, sees }: Tab, { market, buyer, builder }: Place): Promise<void> {
  await buyer.client.deposit({ amount: 6_000 })
  await buyer.client.deposit({ amount: 3_000 })
  await to('/queues')
  const that = (list: string, amount: string, act: RegExp) =>
    card(page, list).locator('li', { hasText: amount }).getByRole('button', { name: act }).click()
  await that('Deposits to confirm', '60.00', /^Arrived…/)
  await press(page, /^Arrived, 60\.00/)
  await isDone(page)
  await that('Deposits to confirm', '30.00', /^Reject…/)
  const why = dialog(page).getByLabel('Why')
  await why.fill('x'.repeat(10_000))
  await press(page, /^Reject 30\.00/)
  await isRefused(page, 'Why')
  assert.is((await why.inputValue()).length, 10_000)
  await why.fill('It never came.')
  await press(page, /^Reject 30\.00/)
  await isDone(page)
  await until(
    'no deposit waits',
    async () => (await card(page, 'Deposits to confirm').getByText('Nothing waits.').count()) === 1,
  )
  assert.equal(await stateOfPayments(buyer, 'deposit'), [
    ...[[3_000, 'rejected'] as [number, string]],
    ...[6_000, 10_000].map(amount => [amount, 'completed'] as [number, string]),
  ])
  await that('Withdrawals to pay', '7.50', /^Paid…/)
  await press(page, /^Paid, 7\.50/)
  await isDone(page)
  assert.equal(await stateOfPayments(builder, 'withdrawal'), [[750, 'completed']])
  await press(page, 'Check again')
  await isRead({ page } as Tab, 'the ledger')
  await sees('adds up')
  const { entries } = await market.admin.client.checkLedger()
  await card(page, 'Ledger').locator('dd').getByText(entries.toLocaleString('en'), { exact: true }).waitFor()
}

async function bans({ page, to }: Tab, { buyer }: Place): Promise<void> {
  const status = async () => (await buyer.ask('GET', '/api/wallet', undefined, 'key')).status
  await to('/users?q=bob')
  await press(page, 'bob')
  await press(page, 'Ban…')
  await dialog(page).getByRole('button', { name: /^Ban/ }).click()
  await isDone(page)
  await page.getByRole('button', { name: 'Lift the ban' }).waitFor()
  assert.is(await status(), 403)
  await press(page, 'Lift the ban')
  await page.getByRole('button', { name: 'Ban…' }).waitFor()
  assert.is(await status(), 200)
}

test('in a deployment the buyer, the builder and the administrator do what their pages offer', async () => {
  const { task, ...place } = await openPlace()
  const { market, buyer, builder } = place
  const browsers = [await openBrowser(), await openBrowser(), await openBrowser()]
  const tabOf = (at: number) => openTab(browsers[at]!.browser, market.url, { refusals: [400, 403, 404, 409] })
  try {
    const [forBuyer, forBuilder, forAdmin] = [await tabOf(0), await tabOf(1), await tabOf(2)]
    await signIn(forBuyer, buyer, '/')
    await reviews(forBuyer, place, task)
    await allowsAnAgent(forBuyer, place)
    await seesWhatMoved(forBuyer)
    await signIn(forBuilder, builder, '/')
    await signIn(forAdmin, market.admin, '/')
    await connectsPayouts(forBuilder, forAdmin, place)
    await asksForAWithdrawal(forBuilder, place)
    await paysAndRefuses(forAdmin, place)
    await bans(forAdmin, place)
    await sendsOneAgain(forBuilder, place)
    await rotates(forBuilder, place)
    await makesAKey(forBuilder, place)
    await turnsOnASecondFactor(forBuilder, place)
    for (const tab of [forBuyer, forBuilder, forAdmin]) {
      tab.hadNoFaults()
      await tab.close()
    }
    await market.checkLedger()
  } finally {
    for (const { close } of browsers) await close()
    await market.close()
  }
})

/** What has the focus at the moment at which words are drawn that this leads to. It is looked for before that: a busy browser begins late. */
async function focusedOnce(page: Page, words: string, act: () => Promise<unknown>): Promise<string> {
  const drawn = await page.evaluateHandle(
    words => ({
      focused: new Promise<string>(resolve => {
        const look = (_: unknown, observer: MutationObserver) => {
          if (!document.body.textContent.includes(words)) return
          observer.disconnect()
          resolve(document.activeElement?.textContent ?? '')
        }
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
      }),
    }),
    words,
  )
  await act()
  return inTime(
    words,
    drawn.evaluate(({ focused }) => focused),
  )
}

test('a forgotten password: the mail is asked for, its link leads to the form, and the new one signs in', async () => {
  const office = await openPostOffice()
  const market = await openTestMarketplace({
    ...{ mode: 'serve', payments: 'sandbox', rateLimits: 'off' },
    mail: { smtpUrl: office.url, from: 'market@example.com' },
  })
  const ann = await market.join('ann')
  const { browser, close } = await openBrowser()
  try {
    const tab = await openTab(browser, market.url, { refusals: [400] })
    const { page } = tab
    await tab.to('/')
    await tabTo(tab, page.getByRole('button', { name: 'Forgot the password' }))
    await tab.press('Enter')
    await page.getByLabel('Email').fill(ann.email)
    await tab.press('Enter')
    await tab.sees('a mail with a token is on its way')
    await market.runDue()
    const letter = office.received.find(({ subject }) => subject === 'Your new password')!
    const link = /http\S+\/console\/sign-in\?reset=[\w-]+/.exec(letter.text)![0]
    await page.goto(link)
    const password = page.getByLabel('New password')
    await password.fill('short')
    assert.match(await focusedOnce(page, 'Not set.', () => tab.press('Enter')), /^Not set\./)
    assert.is(await password.inputValue(), 'short')
    await password.fill('quite another password')
    await tab.press('Enter')
    await tab.sees('The new password is set. Sign in with it.')
    await signIn(tab, { email: ann.email, password: 'quite another password' }, '/wallet')
    assert.is(new URL(page.url()).pathname, '/console/wallet')
    tab.hadNoFaults()
    await tab.close()
  } finally {
    await close()
    await market.close()
    await office.close()
  }
})

test(
  'in a simulator the clock is moved by hours, by what is due next and by keys, and runs faster',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    const { browser, close } = await openBrowser()
    const { client } = userOf(dev, 'admin')
    const offset = async () => (await client.getDevStatus({})).clock.offsetMs
    try {
      const tab = await openTab(browser, dev.ready.url)
      const { page } = tab
      await be(tab, 'admin')
      await tab.to('/clock')
      await isRead(tab, 'the clock')
      const move = async (what: string, byMs: number, act: () => Promise<unknown>) => {
        const before = await offset()
        await act()
        await until(what, async () => (await offset()) - before >= byMs - ON_THE_WAY_MS)
      }
      await move('an hour', HOUR_MS, () => press(page, '+ 1 h'))
      await move('another hour, by keys', HOUR_MS, async () => {
        await tabTo(tab, page.getByLabel('Move the clock by hours'))
        await tab.press('ArrowRight')
      })
      // Also while the page has not read what the move before has changed.
      const { next } = await client.getClock({})
      await page.route('**/api/dev/clock?limit=20', () => {}, { times: 2 })
      await tab.press('n')
      await tab.press('n')
      const later = Date.parse(next!.at) + HOUR_MS
      await until('what is due after it', async () => Date.parse((await client.getClock({})).now) >= later)
      await page.unroute('**/api/dev/clock?limit=20')
      await press(page, '60 ×')
      await until('it runs faster', async () => (await client.getClock({})).scale === 60)
      await press(page, 'as real time')
      await until('it runs as before', async () => (await client.getClock({})).scale === 1)
      tab.hadNoFaults()
      await tab.close()
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

// A run of the judge takes its time.
if (isLong)
  test(
    'a run of the judge is begun and stopped on its page, and a broken check says why',
    inFolder(async folder => {
      const agent = await openMistakenAgent()
      const dev = await devOf(folder, ['--ephemeral', '--forward-to', agent.url])
      const { url, accounts, agents } = dev.ready
      const own = agents.find(({ slug }) => slug === 'my-agent')!
      agent.mend()
      agent.begin({ secret: own.webhookSecret, key: accounts.builder!.apiKey, api: url })
      await dev.said(/^my-agent can be hired/)
      agent.spoil()
      const { browser, close } = await openBrowser()
      try {
        const tab = await openTab(browser, url)
        const { page } = tab
        await be(tab, 'builder')
        await tab.to('/conformance')
        await tabTo(tab, page.getByRole('button', { name: 'Judge my-agent' }))
        await tab.press('Enter')
        await page.locator('.cell.bad').first().waitFor()
        const id = new URL(page.url()).pathname.split('/').at(-1)!
        await tab.press('j')
        await tab.sees('To mend it')
        const check = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1)!)
        await press(page, 'Stop')
        await page.getByRole('button', { name: 'Run again' }).waitFor()
        const run = await userOf(dev, 'builder').client.getConformanceRun({ id })
        const { verdict, fix } = run.checks.find(one => one.id === check)!
        assert.is(run.state, 'stopped')
        // What is found meanwhile may be its cause: then that is what has to be mended.
        assert.ok(verdict === 'fail' || verdict === 'behind', verdict)
        await tab.sees(verdict === 'fail' ? fix : 'It stands behind')
        await tab.isAccessible('a broken check')
        tab.hadNoFaults()
        await tab.close()
      } finally {
        await close()
        agent.close()
        await dev.stop()
      }
    }),
  )

test.run()
