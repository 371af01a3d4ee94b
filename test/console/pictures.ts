/** Writes the guide's pictures of the console and of the public pages from a running dev: `npm run pictures`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pageAt } from '../../src/console/pages.ts'
import { HttpUser } from '../../src/sim/http-user.ts'
import { devOf } from '../cli/dev-lines.ts'
import { openBrowser } from '../support/browser.ts'
import { until } from '../support/patience.ts'
import { openMistakenAgent } from './agent.ts'
import { pictured } from './pictured.ts'
import { smallPng } from './small-png.ts'
import { be, isRead, openTab, type Tab } from './tab.ts'

const TO = 'docs/pictures'
/** Two things of a page stand in one picture of this size. */
const SIZE = { width: 1280, height: 800 }

const folder = mkdtempSync(join(tmpdir(), 'marketplace-pictures-'))
const agent = await openMistakenAgent()
const dev = await devOf(folder, ['--ephemeral', '--seed', '7', '--forward-to', agent.url])
const { url, accounts, agents } = dev.ready
const own = agents.find(({ slug }) => slug === 'my-agent')!
agent.mend()
agent.begin({ secret: own.webhookSecret, key: accounts.builder!.apiKey, api: url })
await dev.said(/^my-agent can be hired/)
const { browser, close } = await openBrowser()
mkdirSync(TO, { recursive: true })
try {
  await take()
} finally {
  await close()
  agent.close()
  await dev.stop()
  rmSync(folder, { recursive: true })
}

async function take(): Promise<void> {
  const buyer = userOf('buyer')
  const disputed = await hired('Summarise the minutes')
  await until('a delivery', async () => (await buyer.client.getTask({ id: disputed })).status === 'delivered')
  await buyer.client.disputeTask({ id: disputed, reason: 'Half of the pages are missing.' })
  const failing = await spoiled('Translate the menu')
  const limits = { maxPerTask: 1_000, maxDaily: 5_000, maxMonthly: 50_000 }
  await buyer.client.createBudget({ agentId: own.id, ...limits })
  const tab = await openTab(browser, url)
  const { page } = tab
  await page.setViewportSize(SIZE)
  await tab.to('/')
  await tab.sees('Who do you want to be?')
  await keep(tab, 'sign-in')
  await be(tab, 'admin')
  // Before the run of conformance, whose tasks are unknown to this marketplace: all that they call back is in the log.
  await picture(tab, '/', 'What happens')
  await be(tab, 'builder')
  await tab.to(`/tasks/${failing}`)
  await page.locator('.ev.fail a').first().click()
  await tab.sees('what is to be signed')
  await page.locator('main').evaluate('document.querySelector("main").scrollTop = 0')
  await keep(tab, 'task')
  await picture(tab, '/deliveries', 'task.submitted')
  const { items } = await userOf('builder').client.listMyDeliveries({ taskId: failing })
  await picture(tab, `/deliveries/${items[0]!.id}`, 'Request headers')
  await picture(tab, '/agents/my-agent', 'Secret')
  await picture(tab, '/agents/new', 'In one line')
  await picture(tab, '/agents/my-agent/edit', 'In one line')
  await picture(tab, '/inbox', 'Summarise the minutes')
  await conformance(tab)
  await be(tab, 'buyer')
  await picture(tab, '/tasks', 'Translate the menu')
  await picture(tab, '/hire', 'My Agent')
  await picture(tab, '/hire/my-agent', 'Title')
  await picture(tab, '/wallet', 'Available')
  await picture(tab, '/budgets', 'My Agent')
  await picture(tab, '/settings', 'Where you are signed in')
  await be(tab, 'admin')
  await picture(tab, '/clock', 'Market time')
  await picture(tab, '/queues', 'Summarise the minutes')
  await picture(tab, `/disputes/${disputed}`, 'Half of the pages')
  const { id } = (await buyer.client.me({})).user
  await picture(tab, `/users?user=${id}`, 'Chargebacks')
  for (const [name, path] of [
    ['catalogue', '/agents'],
    ['public-agent', '/agents/my-agent'],
  ] as const) {
    await page.goto(url + path)
    await keep(tab, name)
  }
  tab.hadNoFaults()
}

/** The window as it is. */
async function keep({ page }: Tab, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready')
  const path = join(TO, `${name}.png`)
  writeFileSync(path, smallPng(await page.screenshot({ animations: 'disabled' })))
  console.log(path)
}

/** The page of an address, once it has these words. */
async function picture(tab: Tab, address: string, words: string | RegExp): Promise<void> {
  const { pathname: path } = new URL(address, url)
  await tab.to(address)
  await tab.sees(words)
  await isRead(tab, address)
  await keep(tab, pictured[pageAt({ path })!.page.path]!)
}

async function conformance(tab: Tab): Promise<void> {
  await picture(tab, '/conformance', 'Judge')
  agent.mend()
  const { client } = userOf('builder')
  const run = await client.judgeAgent({ agentId: own.id, only: ['sig'] })
  const isOver = async () => (await client.getConformanceRun({ id: run.id })).state !== 'running'
  await until('the end of the run', isOver)
  await picture(tab, `/conformance/${run.id}`, 'Run again')
  await picture(tab, `/conformance/${run.id}/sig.stale-day`, 'To mend it')
}

function userOf(side: string): HttpUser {
  const user = new HttpUser(url)
  user.key = accounts[side]!.apiKey
  return user
}

async function hired(title: string): Promise<string> {
  const { client } = userOf('buyer')
  const description = 'Into German, and keep the tone friendly and short.'
  const { id } = await client.createTask({ agentId: own.id, title, description, agreedPrice: 1_200 })
  await client.submitTask({ id })
  return id
}

async function spoiled(title: string): Promise<string> {
  agent.spoil()
  const id = await hired(title)
  await dev.until('its refusal', ({ type, status, taskId }) => type === 'webhook' && status === 401 && taskId === id)
  return id
}
