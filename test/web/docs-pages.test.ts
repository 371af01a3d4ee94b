// engines: embedded; process: shared
/** The contract as a running marketplace serves it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { events } from '../../src/api/events.ts'
import { html } from '../../src/shared/html.ts'
import { contractPages } from '../../src/web/docs-pages.ts'
import { openTestMarketplace } from '../support/marketplace.ts'

test('A-45: GET /openapi.json describes what runs, at its own address', async () => {
  const marketplace = await openTestMarketplace()
  const reply = await fetch(`${marketplace.url}/openapi.json`)
  assert.is(reply.status, 200)
  assert.is(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  const doc = (await reply.json()) as { openapi: string; servers: object; info: { version: string }; paths: object }
  assert.is(doc.openapi, '3.1.0')
  assert.equal(doc.servers, [{ url: marketplace.url }])
  assert.is(doc.info.version, marketplace.market.config.version)
  assert.ok('/api/tasks/{id}/submit' in doc.paths)
  await marketplace.close()
})

test('while the description is made for the first time, others have their turn', async () => {
  const marketplace = await openTestMarketplace()
  let [turns, isMade] = [0, false]
  const look = () => {
    turns++
    if (!isMade) setImmediate(look)
  }
  const pages = contractPages(endpoints, marketplace.market.config)
  const made = Promise.resolve(pages['/openapi.json']!({ path: '/openapi.json', query: {}, headers: {} }))
  setImmediate(look)
  await made
  isMade = true
  assert.ok(turns >= Object.keys(endpoints).length, `${turns} turns`)
  await marketplace.close()
})

test('A-7: /docs is whole without scripts, and its policy lets nothing in from elsewhere', async () => {
  const marketplace = await openTestMarketplace()
  const reply = await fetch(`${marketplace.url}/`)
  assert.is(reply.url, `${marketplace.url}/docs`, 'the address of a marketplace leads there')
  assert.is(reply.status, 200)
  assert.is(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = reply.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self';/)
  assert.not.match(policy, 'unsafe')
  const text = await reply.text()
  for (const name of Object.keys(endpoints)) assert.match(text, `<article id="${name}"`)
  for (const name of Object.keys(events)) assert.match(text, `<code>${name}</code>`)
  assert.not.match(text, /<style|<script>|\son\w+=|style="/, 'nothing inline')
  const linked = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url!)
  assert.equal([...new Set(linked)].sort(), ['/docs/script.js', '/docs/style.css', '/openapi.json'])
  for (const url of linked) assert.is((await fetch(marketplace.url + url)).status, 200, url)
  const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
  for (const id of anchors) assert.ok(text.includes(`id="${id}"`), id)
  await marketplace.close()
})

test('a file that could not be read once is read at the next request, and then kept', async () => {
  let reads = 0
  const marketplace = await openTestMarketplace()
  const pages = contractPages(endpoints, marketplace.market.config, async () => {
    if (++reads === 1) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    return Buffer.from('body {}')
  })
  const style = async () => pages['/docs/style.css']!({ path: '/docs/style.css', query: {}, headers: {} })
  assert.is(await style().catch(error => error.code), 'EMFILE')
  for (let i = 0; i < 2; i++) assert.is(String((await style())!.body), 'body {}')
  assert.is(reads, 2)
  await marketplace.close()
})

test('what is put into the page is escaped', () => {
  const evil = `<img src=x onerror='1'> & "words"`
  assert.is(html`<p>${evil}</p>`.text, '<p>&lt;img src=x onerror=&#39;1&#39;&gt; &amp; &quot;words&quot;</p>')
  assert.is(html`${[html`<b>1</b>`, null, false, 2]}`.text, '<b>1</b>2')
})

test.run()
