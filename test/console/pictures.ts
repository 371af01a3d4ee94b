/** Writes the guide's pictures of the console and of the public pages from a running dev: `npm run pictures`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpUser } from '../../src/sim/http-user.ts'
import { devOf } from '../cli/dev-lines.ts'
import { openBrowser } from '../support/browser.ts'
import { until } from '../support/patience.ts'
import { openMistakenAgent } from './agent.ts'
import { be, isRead, openTab } from './tab.ts'

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
  const tab = await openTab(browser, url)
  const { page } = tab
  await page.setViewportSize(SIZE)
  const picture = async (name: string, path: string, words: string | RegExp) => {
    await tab.to(path)
    await tab.sees(words)
    await isRead(tab, path)
    await page.evaluate('document.fonts.ready')
    await page.screenshot({ path: join(TO, `${name}.png`), animations: 'disabled' })
    console.log(join(TO, `${name}.png`))
  }
  await be(tab, 'admin')
  // Before the run of conformance, whose tasks are unknown to this marketplace: all that they call back is in the log.
  await picture('overview', '', 'What happens')
  await be(tab, 'builder')
  await tab.to(`/tasks/${failing}`)
  await page.locator('.ev.fail a').first().click()
  await tab.sees('what is to be signed')
  await page.locator('main').evaluate('document.querySelector("main").scrollTop = 0')
  await page.screenshot({ path: join(TO, 'task.png'), animations: 'disabled' })
  console.log(join(TO, 'task.png'))
  await picture('deliveries', '/deliveries', 'task.submitted')
  await picture('agent', '/agents/my-agent', 'Secret')
  await conformance(tab, picture)
  await be(tab, 'buyer')
  await picture('hire', '/hire/my-agent', 'Title')
  await picture('wallet', '/wallet', 'Available')
  await be(tab, 'admin')
  await picture('clock', '/clock', 'Market time')
  await picture('dispute', `/disputes/${disputed}`, 'Half of the pages')
  for (const [name, path] of [
    ['catalogue', '/agents'],
    ['public-agent', '/agents/my-agent'],
  ] as const) {
    await page.goto(url + path)
    await page.screenshot({ path: join(TO, `${name}.png`) })
    console.log(join(TO, `${name}.png`))
  }
  tab.hadNoFaults()
}

async function conformance({ page }: Awaited<ReturnType<typeof openTab>>, picture: Picture): Promise<void> {
  agent.mend()
  const run = await userOf('builder').client.judgeAgent({ agentId: own.id, only: ['sig'] })
  await picture('conformance', `/conformance/${run.id}`, 'Run again')
  await page.getByRole('button', { name: 'Run again' }).waitFor()
}

type Picture = (name: string, path: string, words: string | RegExp) => Promise<void>

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
