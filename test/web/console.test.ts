// engines: embedded; process: shared
/** The console as the server hands it out: one page, files that stay, and nothing for other origins. Source: A-310. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { brandOf } from '../../src/settings/brand.ts'
import { consolePages } from '../../src/web/console.ts'
import { PublicFiles } from '../../src/web/public/style.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

const test = suite<{ folder: string; ask: (path: string, accepts?: string) => Promise<Reply> }>('the console')

type Reply = { status: number; headers: Record<string, string>; text: string } | null

const page = '<!doctype html><html lang="en" data-mode="serve"><title>…</title>'

test.before(context => {
  context.folder = mkdtempSync(join(tmpdir(), 'console-'))
  writeFileSync(join(context.folder, 'index.html'), page)
  writeFileSync(join(context.folder, 'main-ABC.js'), 'go()')
  const pages = consolePages(
    { mode: 'dev', baseUrl: '', brand: brandOf() },
    new PublicFiles(),
    pathToFileURL(`${context.folder}/`),
  )
  context.ask = async (path, accepts) => {
    const [pattern] = Object.keys(pages).filter(one => one.split('/').length === path.split('/').length)
    const reply = await pages[pattern!]!({ path, query: {}, headers: { 'accept-encoding': accepts } })
    return reply && { status: reply.status ?? 200, headers: { ...reply.headers }, text: String(reply.body) }
  }
})

test.after(({ folder }) => rmSync(folder, { recursive: true }))

test('every address has the same page, which knows that this is a simulator', async ({ ask }) => {
  for (const path of ['/console', '/console/tasks', '/console/tasks/task_1', '/console/conformance/run/sig.valid']) {
    const reply = (await ask(path))!
    assert.is(reply.text, page.replace('serve', 'dev'), path)
    assert.is(reply.headers['cache-control'], 'no-cache')
    const policy = reply.headers['content-security-policy']!
    assert.match(policy, /^default-src 'none'; script-src 'self';.* frame-ancestors 'none'; .*trusted-types 'none'$/)
    assert.not.match(policy, /unsafe|http|\*/)
  }
})

test('a file is kept for ever, and one that the build has not made is not there', async ({ ask }) => {
  const file = (await ask('/console/main-ABC.js'))!
  assert.equal([file.text, file.headers['cache-control']], ['go()', 'public, max-age=31536000, immutable'])
  const packed = (await ask('/console/main-ABC.js', 'br, gzip'))!
  assert.equal([packed.headers['content-encoding'], packed.headers.vary], ['gzip', 'accept-encoding'])
  for (const path of ['/console/main-XYZ.js', '/console/..', '/console/%2e%2e%2fsecret.js'])
    assert.is(await ask(path), null, path)
})

test('--console off leaves it out', async () => {
  const marketplace = await openTestMarketplace({ console: 'off' })
  assert.is((await fetch(`${marketplace.url}/console`)).status, 404)
  await marketplace.close()
})

test.run()
