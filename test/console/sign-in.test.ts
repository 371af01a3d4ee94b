// engines: embedded; process: own; lengths: long
/** Signing in to the console of a deployment: refusals, a second factor on demand, a new password, and back to where one was. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { totpCode } from '../../src/market/accounts/totp.ts'
import { openBrowser } from '../support/browser.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { openTab, tellWhatStandsOpen } from './tab.ts'

const test = suite('sign-in')
test.after.each(tellWhatStandsOpen)

const serve = { mode: 'serve', payments: 'sandbox' } as const
const STEP_MS = 30_000

test('a wrong password is told, a second factor is asked for when it is needed, and the way goes on', async () => {
  const marketplace = await openTestMarketplace({ ...serve, rateLimits: 'off' })
  const ann = await marketplace.join('ann')
  const { secret } = await ann.client.beginTotp({ password: ann.password })
  const code = () => totpCode(secret, marketplace.world.realNow())
  await ann.client.confirmTotp({ code: code() })
  marketplace.world.tick(STEP_MS)
  const { browser, close } = await openBrowser()
  try {
    const tab = await openTab(browser, marketplace.url, { refusals: [400] })
    const { page } = tab
    await tab.to('/settings')
    await tab.sees('You go on where you were.')
    await tab.isAccessible('signing in')
    await page.getByLabel('Email').fill(ann.email)
    await page.getByLabel('Password').fill('not the password')
    await tab.press('Enter')
    await tab.sees('The email or the password is wrong')
    assert.is(await page.locator('#totp').count(), 0)
    await page.getByLabel('Password').fill(ann.password)
    await tab.press('Enter')
    await page.locator('#totp').fill(code())
    await tab.isAccessible('signing in with a second factor')
    await tab.press('Enter')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    assert.is(new URL(page.url()).pathname, '/console/settings')
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await page.getByRole('button', { name: 'Forgot the password' }).click()
    await page.getByLabel('Email').fill(ann.email)
    await tab.press('Enter')
    await page.getByLabel('The token of the mail').fill('not a token')
    await page.getByLabel('New password').fill('quite another password')
    await tab.press('Enter')
    await tab.sees(/^Not set\./)
    await tab.isAccessible('a new password that is refused')
    tab.hadNoFaults()
  } finally {
    await close()
    await marketplace.close()
  }
})

test('who tries too often is told how long to wait, second by second', async () => {
  const marketplace = await openTestMarketplace({ ...serve, rateLimits: 'strict' })
  const { browser, close } = await openBrowser()
  try {
    const tab = await openTab(browser, marketplace.url, { refusals: [429] })
    const { page } = tab
    await tab.to('/')
    await page.getByLabel('Email').fill('nobody@example.com')
    await page.getByLabel('Password').fill('not a password')
    const button = page.getByRole('button', { name: /^(?:Sign in|Again in \d+ seconds?)$/ })
    const words = async () => (await button.textContent())!
    while (!/^Again in/.test(await words())) {
      await button.click()
      await page.waitForLoadState('networkidle')
    }
    const seconds = async () => Number(/\d+/.exec(await words())![0])
    const first = await seconds()
    assert.ok(first > 1 && first <= 60, `${first} s`)
    await page.getByRole('button', { name: new RegExp(`^Again in ${first - 1} second`) }).waitFor()
    tab.hadNoFaults()
  } finally {
    await close()
    await marketplace.close()
  }
})

test.run()
