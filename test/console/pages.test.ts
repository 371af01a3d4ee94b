// engines: embedded; process: own; lengths: short, long
/** What is done on the pages of the console, in a real browser. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { WalletRecord } from '../../src/api/money-records.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { devOf, type Line } from '../cli/dev-lines.ts'
import { inFolder } from '../cli/program.ts'
import { openBrowser } from '../support/browser.ts'
import { isLong } from '../support/length.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/patience.ts'
import { be, openTab, tellWhatStandsOpen } from './tab.ts'

const test = suite('pages')
test.after.each(tellWhatStandsOpen)

test(
  'what is done on a page is done at the marketplace, to the cent, and a refusal loses nothing that was written',
  inFolder(async folder => {
    const dev = await devOf(folder, ['--ephemeral'])
    const { browser, close } = await openBrowser()
    const buyer = new HttpUser(dev.ready.url)
    buyer.key = dev.ready.accounts.buyer!.apiKey
    const balance = async () => (await buyer.call<WalletRecord>('GET', '/api/wallet', undefined, 'key')).wallet
    try {
      const tab = await openTab(browser, dev.ready.url, { refusals: [400] })
      const { page, sees } = tab
      await be(tab, 'buyer')
      const before = await balance()

      await tab.to('/wallet')
      await page.getByRole('button', { name: 'Light or dark' }).click()
      await page.reload()
      assert.is(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
      await page.getByRole('button', { name: 'Light or dark' }).click()
      await page.getByRole('button', { name: 'Put money in…' }).click()
      await page.getByLabel('Amount').fill('25.50')
      await page.getByRole('button', { name: /^Put in 25\.50/ }).click()
      await sees('1,025.50')
      assert.is((await balance()).balance, before.balance + 2550)

      await tab.to('/hire/sample-agent')
      await page.getByLabel('Title').fill('Not yet')
      await page.getByLabel('What is to be done').fill('Two sentences for each, once there are any.')
      await page.getByRole('button', { name: 'Keep as a draft' }).click()
      await page.locator('.head .st', { hasText: 'Draft' }).waitFor()
      assert.is((await balance()).heldBalance, 0)

      await tab.to('/hire/sample-agent')
      await page.getByLabel('Title').fill('Sum up twelve reviews')
      await page.getByLabel('What is to be done').fill('Too short.')
      await page.getByRole('button', { name: /^Send the task/ }).click()
      await sees('The task was not sent.')
      await page.reload()
      assert.is(await page.getByLabel('Title').inputValue(), 'Sum up twelve reviews')
      await page.getByLabel('What is to be done').fill('Two sentences for each, and keep the tone friendly.')
      await page.getByLabel('Price').fill('5000')
      await sees('3,974.50 is missing.')
      await page.getByLabel('Price').fill('12')
      await page.getByRole('button', { name: 'Send the task, hold 12.00' }).click()
      await page.getByRole('heading', { name: 'Sum up twelve reviews' }).waitFor()
      const id = new URL(page.url()).pathname.split('/').at(-1)!
      await dev.until('the deliverable', line => line.type === 'task' && line.taskId === id && line.to === 'delivered')
      await buyer.call('POST', `/api/tasks/${id}/dispute`, { reason: 'Half of it is missing.' }, 'key')

      await tab.to('/tasks')
      const [filter, hired] = [
        page.getByLabel('Filter tasks'),
        page.getByRole('link', { name: 'Sum up twelve reviews' }),
      ]
      await filter.fill('twelve')
      await page.getByRole('button', { name: /^Cancelled/ }).click()
      await sees('None is like that')
      await filter.fill('')
      await page.goBack()
      await hired.waitFor()
      assert.is(await filter.inputValue(), 'twelve')

      await be(tab, 'admin')
      await tab.to('/queues')
      await page.getByRole('link', { name: 'Sum up twelve reviews' }).click()
      await page.getByLabel('Back to the buyer', { exact: true }).fill('5')
      await page.getByRole('button', { name: 'Split 5.00 and 7.00' }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Split 5\.00 and 7\.00/ })
        .click()
      await sees('Decided: split')
      assert.is(await page.title(), 'Sum up twelve reviews · marketplace')
      assert.equal(await balance(), { ...before, balance: before.balance + 2550 - 700, heldBalance: 0 })

      // Nothing of whoever was signed in before stays.
      await tab.to('/wallet')
      await tab.press('2')
      await sees('1,018.50')
      tab.hadNoFaults()
    } finally {
      await close()
      await dev.stop()
    }
  }),
)

test(
  'the five checks of an agent are shown as they end, while the next is waited for',
  inFolder(async folder => {
    let answer: (() => void) | null = null
    let isHeld = false
    const agent = await listen(async (request, response) => {
      const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
      if (isHeld && data.test) await new Promise<void>(resolve => (answer = resolve))
      response.end()
    })
    const dev = await devOf(folder, ['--ephemeral', '--agent', `held=${agent.url}/webhook`])
    const { browser, close } = await openBrowser()
    try {
      const { id } = dev.ready.agents.find(({ slug }) => slug === 'held')!
      const isItsLast = ({ type, name, agentId }: Line) => type === 'check' && name === 'callback' && agentId === id
      await dev.until('its own test', isItsLast)
      const tab = await openTab(browser, dev.ready.url, { refusals: [409] })
      const { page } = tab
      await be(tab, 'builder')
      await tab.to('/agents/held')
      await page.locator('.strip b', { hasText: /^Live$/ }).waitFor()
      isHeld = true
      const marks = (tone: string) => page.locator(`.five[aria-busy=true] .st.${tone}`).count()
      const test = page.getByRole('button', { name: /^Test/ })
      // Its own test may be ending: another is refused until it has.
      await until('three checks, with two to come', async () => {
        if ((await page.locator('.five[aria-busy=true]').count()) === 0) await test.click()
        return (await marks('ok')) === 3 && (await marks('mute')) === 2
      })
      await until('its webhook', () => answer !== null)
      answer!()
      await until('four checks', async () => (await marks('ok')) === 4 && (await marks('mute')) === 1)
      await page.locator('.five[aria-busy=false]').waitFor()
      await tab.sees('No callback arrived')
      tab.hadNoFaults()
    } finally {
      await close()
      await dev.stop()
      await agent.close()
    }
  }),
)

if (isLong)
  test(
    'in a simulator one plays the agent, takes one fault back, lets buyers come and go, reads mails, and compares what was delivered',
    inFolder(async folder => {
      const dev = await devOf(folder, ['--ephemeral'])
      const { url, accounts } = dev.ready
      const { browser, close } = await openBrowser()
      const user = (side: 'buyer' | 'admin') => Object.assign(new HttpUser(url), { key: accounts[side]!.apiKey })
      const [buyer, admin] = [user('buyer'), user('admin')]
      const call = <Data>(path: string, body?: object) => buyer.call<Data>('POST', path, body, 'key')
      const held = async () =>
        (await buyer.call<WalletRecord>('GET', '/api/wallet', undefined, 'key')).wallet.heldBalance
      const hired = async (title: string, slug: string) => {
        const found = await buyer.call<{ items: { id: string; slug: string }[] }>(
          'GET',
          '/api/agents',
          undefined,
          'key',
        )
        const agentId = found.items.find(one => one.slug === slug)!.id
        const description = 'Something that is long enough.'
        const { id } = await call<{ id: string }>('/api/tasks', { agentId, title, description, agreedPrice: 700 })
        await call(`/api/tasks/${id}/submit`)
        return id
      }
      try {
        const tab = await openTab(browser, url)
        const { page, sees } = tab
        await be(tab, 'buyer')
        const state = (word: string) => page.locator('.head .st', { hasText: word }).waitFor()
        const act = async (verb: string, answer: string) => {
          const more = page.getByLabel('More')
          if (await more.isVisible()) await more.click()
          await page.getByRole('button', { name: `${verb} as the agent…` }).click()
          await page.getByRole('dialog').getByRole('button', { name: answer }).click()
        }

        const silent = await hired('Never answered', 'silent-analyst')
        await tab.to(`/tasks/${silent}`)
        await state('Pending')
        await act('Reject', 'Reject the task')
        await state('Cancelled')
        assert.is(await held(), 0)
        // The callback is one like the agent's own, and its bytes are there.
        await page.locator('.ev.callback a').click()
        await sees('x-service-signature')

        const worked = await hired('Played by hand', 'silent-translator')
        await tab.to(`/tasks/${worked}`)
        await state('Pending')
        await act('Accept', 'Accept the task')
        await state('In progress')
        await page.getByRole('button', { name: 'Deliver as the agent…' }).click()
        await page.getByRole('textbox', { name: 'The work' }).fill('one\ntwo\nthree')
        await page.getByRole('dialog').getByRole('button', { name: 'Deliver' }).click()
        await state('Delivered')
        await call(`/api/tasks/${worked}/request-revision`, { reason: 'Count in German.' })
        await page.getByRole('button', { name: 'Deliver as the agent…' }).click()
        await page.getByRole('textbox', { name: 'The work' }).fill('one\nzwei\nthree\nvier')
        await page.getByRole('dialog').getByRole('button', { name: 'Deliver' }).click()
        await page.getByRole('button', { name: 'Compare…' }).click()
        const changed = page.getByRole('list', { name: 'Changed lines' })
        assert.equal(await changed.locator('li').allTextContents(), ['one', '− two', '+ zwei', 'three', '+ vier'])
        await tab.isAccessible('two versions by their lines')
        await page.getByRole('button', { name: 'Side by side' }).click()
        await sees('Version 1')
        await tab.press('Escape')
        await call(`/api/tasks/${worked}/dispute`, { reason: 'It still counts in English.' })

        const chip = (name: RegExp) => page.getByRole('button', { name })
        const inDispute = page.locator('main').getByRole('link', { name: 'Played by hand' })
        await tab.to('/tasks')
        await chip(/^In dispute\s*1$/).waitFor()
        await chip(/^Delivered\s*0$/).click()
        await page.getByText('None is like that').waitFor()
        await chip(/^In dispute\s*1$/).click()
        await inDispute.waitFor()

        await tab.to('/tasks')
        // It may be read before the pause begins, or wait with the next.
        await hired('Just before it was paused', 'silent-analyst')
        await tab.press('p')
        await sees('Paused')
        await hired('While it was paused', 'silent-analyst')
        const row = page.getByRole('link', { name: 'While it was paused' })
        await page.getByRole('button', { name: /^[12] new$/ }).waitFor()
        assert.is(await row.count(), 0, 'nothing jumps')
        await page.getByRole('button', { name: /^[12] new$/ }).click()
        await row.waitFor()
        // What it has missed is read at once.
        const reading = page.waitForResponse(response => /\/api\/tasks\?.*limit=20/.test(response.url()))
        await tab.press('p')
        await reading
        await page.setViewportSize({ width: 1440, height: 300 })
        await page.evaluate('scrollTo(0, 200)')
        const below = page.locator('main').getByRole('link', { name: 'While its top was out of sight' })
        await hired('While its top was out of sight', 'silent-analyst')
        await page.getByRole('button', { name: /^[12] new$/ }).waitFor()
        assert.is(await below.count(), 0, 'nothing jumps below whoever comes back')
        await page.evaluate('scrollTo(0, 0)')
        await hired('While its top was in sight', 'silent-analyst')
        await page.locator('main').getByRole('link', { name: 'While its top was in sight' }).waitFor()
        assert.is(await below.count(), 1)
        assert.is(await page.getByRole('button', { name: /new$/ }).count(), 0)
        await page.setViewportSize({ width: 1440, height: 900 })

        await be(tab, 'admin')
        await page.getByRole('link', { name: 'Queues 1 waiting' }).waitFor()
        await tab.to('/tasks')
        await sees('What everybody has asked for.')
        await inDispute.waitFor()
        await page.getByRole('button', { name: 'I buy' }).click()
        await inDispute.waitFor({ state: 'detached' })
        await tab.to(`/disputes/${worked}`)
        await page.getByRole('region', { name: 'What happened' }).getByText('It still counts in English.').waitFor()
        await page.getByRole('button', { name: 'Compare…' }).waitFor()

        await tab.to('/clock')
        // Nothing is approved here, so nothing meets them.
        for (const name of ['copy', 'late']) {
          await page.getByLabel(`${name}: on what`, { exact: true }).selectOption('task.approved')
          await page.getByRole('button', { name: `Arm ${name}`, exact: true }).click()
        }
        await page.getByRole('button', { name: 'Take back copy' }).click()
        await page.getByRole('button', { name: 'Take back copy' }).waitFor({ state: 'detached' })
        const faults = await admin.call<{ items: { name: string }[] }>('GET', '/api/dev/faults', undefined, 'key')
        assert.equal(
          faults.items.map(({ name }) => name),
          ['late'],
        )
        await page.getByRole('button', { name: 'Take back all 1' }).click()
        await page.getByRole('button', { name: 'Take back late' }).waitFor({ state: 'detached' })
        const from = dev.seen()
        await page.getByLabel(/^easy/).click()
        await dev.until('a persona', line => line.type === 'persona' && line.persona === 'easy', from)
        await until('it is there', () => page.getByLabel(/^easy/).isChecked())
        await page.getByLabel(/^easy/).click()
        await until('it is gone', async () => !(await page.getByLabel(/^easy/).isChecked()))

        await call('/api/auth/password-reset', { email: 'buyer@example.com' })
        await tab.to('/inbox')
        await page.getByText('Your new password').click()
        await sees('Somebody asked for a new password')

        await be(tab, 'builder')
        await tab.to('/deliveries')
        await page.locator('[data-list] .go').first().click()
        await sees('X-Service-Signature')
        tab.hadNoFaults()
      } finally {
        await close()
        await dev.stop()
      }
    }),
  )

test.run()
