// engines: embedded; process: shared
/** What a dev has stored for commands: where it is looked for, and which of its agents an address is. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { agentAt, CREDENTIALS_FILE, storedDev } from '../../src/cli/connection/dev-folder.ts'

const before = process.cwd()
const root = realpathSync(mkdtempSync(join(tmpdir(), 'marketplace-cli-')))
const inner = join(root, 'src', 'deep')

const agent = (slug: string, more: object) => ({ id: slug, slug, webhookSecret: 'whsec_', ...more })
const stored = {
  url: 'http://127.0.0.1:4000',
  agents: [
    agent('listed', { webhookUrl: 'https://agent.example/hook' }),
    agent('forwarded', {
      webhookUrl: 'https://forwarded.localhost:4100/',
      forwardTo: 'http://localhost:3000/hook?a=1',
    }),
    agent('container', { forwardTo: 'http://agent.lan:3000/hook' }),
  ],
}

test.before(() => {
  mkdirSync(join(root, '.marketplace'))
  mkdirSync(inner, { recursive: true })
  writeFileSync(join(root, CREDENTIALS_FILE), JSON.stringify(stored))
  process.chdir(root)
})
test.after(() => {
  process.chdir(before)
  rmSync(root, { recursive: true })
})

test('it is that of this folder, else of the nearest above; what is no JSON is none', () => {
  assert.equal(storedDev(), { ...stored, from: 'a dev in this folder' })
  process.chdir(inner)
  assert.equal(storedDev(), { ...stored, from: `a dev in ${root}` })
  mkdirSync(join(inner, '.marketplace'))
  writeFileSync(join(inner, CREDENTIALS_FILE), '{"url":')
  assert.is(storedDev()?.from, `a dev in ${root}`)
})

test('an address is that of the agent that is listed with it, or that gets its webhooks there, by any name of this machine', () => {
  const slugAt = (url: string) => agentAt(url)?.slug
  assert.is(slugAt('https://agent.example/hook'), 'listed')
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    assert.is(slugAt(`http://${host}:3000/hook?a=1`), 'forwarded', host)
  assert.is(slugAt('http://agent.lan:3000/hook'), 'container')
  for (const other of [
    'https://agent.example/',
    'http://localhost:3001/hook?a=1',
    'http://localhost:3000/hook',
    'http://localhost:3000/?a=1',
    'http://elsewhere.lan:3000/hook?a=1',
    'http://127.0.0.1:3000/hook',
    'http://localhost:3000/hook?a=2',
  ])
    assert.is(slugAt(other), undefined, other)
})

test.run()
