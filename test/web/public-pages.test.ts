// engines: embedded, postgres at length; process: shared
/** What visitors see: the list of agents, one agent, what search engines read. Source: A-307. */

import { XMLParser } from 'fast-xml-parser'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durations } from '../../src/api/limits.ts'
import { openTestMarketplace, taskFields } from '../support/marketplace.ts'
import { linkedDataOf, Visitor, wordsOf } from './visitor.ts'

const marketplace = await openTestMarketplace({ mode: 'serve', rateLimits: 'off', payments: 'sandbox' })
const { url, pass, admin } = marketplace
await marketplace.stopHeartbeat()
const builder = await marketplace.join('builder')
const buyer = await marketplace.join('buyer', 100_000)
const HOSTILE = `"><img src=x onerror=alert(1)> \u202egnp.\u202d &amp; 'q'`
const swift = await marketplace.list(builder, {
  name: 'Swift Translator',
  tagline: 'Leaflets, manuals and release notes',
  description: 'Send a text of up to 10,000 characters.\n\nI ask when a sentence can mean two things.',
  basePrice: 123_456,
  maxRevisions: 3,
  turnaroundHours: 48,
})
await marketplace.list(builder, {
  name: HOSTILE,
  tagline: `Tag ${HOSTILE}`,
  description: `${HOSTILE} `.repeat(20),
  categoryIds: ['cat_code'],
})
const visitor = new Visitor(url)

const test = suite('public pages')
test.after(() => marketplace.close())

async function review(rating: number, comment: string) {
  const task = await marketplace.draft(buyer, swift, taskFields)
  await buyer.client.submitTask({ id: task.id })
  await marketplace.callback(swift, task.id, { action: 'accept' })
  await marketplace.callback(swift, task.id, { action: 'deliver', content: 'Done.' })
  await buyer.client.approveTask({ id: task.id })
  await buyer.client.submitReview({ id: task.id, rating, comment })
}

test('the address of a marketplace leads to its agents', async () => {
  const { status, headers } = await visitor.get('/')
  assert.is(status, 302)
  assert.is(headers.get('location'), '/agents')
})

test('each page is whole without scripts, lets nothing in from elsewhere, and each of its links leads somewhere', async () => {
  for (const path of ['/agents', '/agents/swift-translator', '/sign-in', '/sign-up', '/agents/none']) {
    const { headers, text } = await visitor.get(path)
    assert.is(headers.get('content-type'), 'text/html; charset=utf-8', path)
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';/)
    assert.not.match(policy, /unsafe|script-src|https?:/)
    assert.is(headers.get('referrer-policy'), 'same-origin', 'else a browser does not say where a form comes from')
    assert.not.match(
      text,
      /<style|<[^>]*\son\w+=|<[^>]*\sstyle=|<script(?! type="application\/ld\+json">)/,
      `${path}: nothing inline`,
    )
    assert.is(text.match(/<h1\b/g)!.length, 1, path)
    const links = [...text.matchAll(/\s(?:src|href|action)="([^"#]+)/g)].map(([, link]) =>
      link!.replaceAll('&amp;', '&'),
    )
    for (const link of new Set(links)) {
      assert.ok(link.startsWith('/') || link.startsWith(`${url}/`), `${path}: ${link} is of this origin`)
      if (link === '/sign-out') continue
      const { status } = await visitor.get(link.replace(url, ''))
      assert.ok(status < 400 || link.endsWith('/none'), `${path}: ${link} → ${status}`)
    }
  }
})

test('the list is searched, narrowed and ordered, and says what it shows', async () => {
  const all = wordsOf((await visitor.get('/agents')).text)
  assert.match(all, '2 agents. Only agents that answered a test within 24 hours are shown. Prices are in USD.')
  assert.match(
    all,
    /Swift Translator\s+Leaflets, manuals and release notes\s+no reviews yet\s+0 done\s+2 days\s+3 revisions\s+answered just now\s+Writing\s+1,234\.56 fixed/,
  )
  const found = (await visitor.get('/agents?q=leaf&category=writing')).text
  assert.not.match(wordsOf(found), 'Swift Translator', 'a tagline is not searched')
  assert.match(wordsOf(found), 'No agent matches “ leaf ” in writing')
  assert.match(
    wordsOf((await visitor.get('/agents?q=swi&category=Writing')).text),
    '1 agent in Writing matches “ swi ”',
  )
  const elsewhere = (await visitor.get('/agents?q=swift&category=code')).text
  assert.match(elsewhere, '<a class="link" href="/agents?q=swift">In all categories: 1</a>')
  assert.match(wordsOf((await visitor.get('/agents?q=poem')).text), /No agent matches “ poem ” ?\. Show all agents/)
  assert.match(
    wordsOf((await visitor.get('/agents?category=research')).text),
    /No agent matches in research ?\. Show all agents/,
  )
  const namesOf = (text: string) => [...text.matchAll(/<h3><a href="\/agents\/([^"]+)"/g)].map(([, slug]) => slug)
  const dear = namesOf((await visitor.get('/agents?sort=price_desc')).text)
  assert.is(dear[0], 'swift-translator')
  assert.equal(namesOf((await visitor.get('/agents?sort=price_asc')).text), dear.toReversed())
  const none = await visitor.get('/agents?page=7')
  assert.match(none.text, '<a class="link" href="/agents">To its first page</a>')
  for (const bad of ['page=0', 'page=x', 'sort=best', `q=${'x'.repeat(201)}`, 'q=%00', 'q=a&q=b']) {
    const { status, text } = await visitor.get(`/agents?${bad}`)
    assert.is(status, 400, bad)
    assert.match(wordsOf(text), 'Validation failed. ', bad)
  }
})

test('a category is chosen by its slug and by its name, in any case', async () => {
  await admin.client.createCategory({ name: 'Far and Wide', slug: 'travel', description: 'Ways to go' })
  for (const given of ['travel', 'TRAVEL', 'far+and+wide', 'Far+and+Wide']) {
    const { text } = await visitor.get(`/agents?category=${given}`)
    assert.match(text, '<title>Agents for Far and Wide · ', given)
    assert.match(text, '<a href="/agents?category=travel" aria-current="true"><bdi dir="auto">Far and Wide</bdi>')
    assert.match(wordsOf(text), '0 agents in Far and Wide .')
  }
})

test('what people write is shown as text, each in its own direction, and what would turn or hide it by its number', async () => {
  const { text } = await visitor.get('/agents')
  assert.not.match(text, '<img src=x')
  assert.match(
    text,
    '<bdi dir="auto">&quot;&gt;&lt;img src=x onerror=alert(1)&gt; <span class="sign">U+202E</span>gnp.<span class="sign">U+202D</span> &amp;amp; &#39;q&#39;</bdi>',
  )
  const slug = /href="\/agents\/([^"]*img[^"]*)"/.exec(text)![1]!
  const page = (await visitor.get(`/agents/${slug}`)).text
  assert.not.match(page, /[\u202a-\u202e]/)
  assert.not.match(page, '<img src=x')
  assert.match(page, '<title>&quot;&gt;&lt;img src=x onerror=alert(1)&gt; gnp. &amp;amp; &#39;q&#39; · 127.0.0.1')
  assert.is((linkedDataOf(page) as { name: string }).name, `"><img src=x onerror=alert(1)> gnp. &amp; 'q'`)
  const searched = (await visitor.get(`/agents?q=${encodeURIComponent('</title><script>1</script>')}`)).text
  assert.not.match(searched, '<script>1')
})

test('an agent has a page: its texts, samples, reviews, freshness and price, for people and for programs', async () => {
  await review(5, 'Kept every heading.')
  await review(4, 'Right, but stiff.')
  const { id: sampleId } = await builder.client.addSample({
    id: swift.id,
    title: 'Release notes',
    input: null,
    output: `<b>${'ä'.repeat(40_000)}</b>`,
  })
  await pass(40 * 60_000)
  const { text } = await visitor.get('/agents/swift-translator')
  const words = wordsOf(text)
  assert.match(words, /4\.5\s+2 reviews\s+2\s+tasks done\s+answered 40 minutes ago\s+by builder/)
  assert.match(words, 'I ask when a sentence can mean two things.')
  assert.match(
    words,
    /1,234\.56 USD, fixed price Delivers within 2 days Revisions 3 revisions Last tested 40 minutes ago , passed/,
  )
  assert.match(words, /40 minutes ago , a buyer who paid Right, but stiff\./)
  assert.match(words, /4\.5 of 5, 2 reviews 5 stars: 1 4 stars: 1 3 stars: 0 2 stars: 0 1 stars: 0/)
  assert.is(text.match(/class="fg" width="50%"/g)!.length, 2)
  assert.not.match(text, buyer.id)
  assert.match(text, '<title>Swift Translator · 127.0.0.1')
  assert.match(text, `<link rel="canonical" href="${url}/agents/swift-translator">`)
  assert.match(text, `<meta property="og:url" content="${url}/agents/swift-translator">`)
  assert.match(text, /<meta name="description" content="Leaflets, manuals and release notes\. Send a text of up to/)
  assert.equal(linkedDataOf(text).offers, {
    '@type': 'Offer',
    price: '1234.56',
    priceCurrency: 'USD',
    availability: 'https://schema.org/InStock',
    url: `${url}/agents/swift-translator`,
  })
  assert.is((linkedDataOf(text).aggregateRating as { ratingValue: number }).ratingValue, 4.5)
  assert.ok(text.length < 25_000, 'a long sample is cut')
  const whole = (await visitor.get(`/agents/swift-translator?sample=${sampleId}`)).text
  assert.ok(whole.includes(`&lt;b&gt;${'ä'.repeat(40_000)}&lt;/b&gt;`), 'and whole where it is asked for')
  assert.match(whole, '<meta name="robots" content="noindex">')
  const byId = await visitor.get(`/agents/${swift.id}`)
  assert.equal([byId.status, byId.headers.get('location')], [301, '/agents/swift-translator'])
})

test('a page is kept and asked for again; what one account sees is kept for nobody else', async () => {
  const first = await visitor.get('/agents/swift-translator')
  const etag = first.headers.get('etag')!
  assert.is(first.headers.get('cache-control'), 'no-cache')
  assert.is(first.headers.get('vary'), 'cookie')
  const again = await visitor.get('/agents/swift-translator', { 'if-none-match': `"other", ${etag}` })
  assert.equal([again.status, again.text, again.headers.get('etag')], [304, '', etag])
  const head = await visitor.get('/agents/swift-translator', {}, 'HEAD')
  assert.equal([head.status, head.text], [200, ''])
  const own = new Visitor(url)
  await own.send('/sign-in', { email: buyer.email, password: buyer.password })
  const mine = await own.get('/agents/swift-translator', { 'if-none-match': etag })
  assert.is(mine.status, 200)
  assert.match(wordsOf(mine.text), 'Signed in as buyer')
  assert.is(mine.headers.get('cache-control'), 'private, no-cache')
  assert.is((await own.get('/agents')).headers.get('cache-control'), 'private, no-cache')
  const style = /href="(\/assets\/style\.css\?v=\w+)"/.exec(first.text)![1]!
  const { headers } = await visitor.get(style)
  assert.is(headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.is(headers.get('content-encoding'), 'gzip')
  const unpacked = await visitor.get(style, { 'accept-encoding': 'identity' })
  assert.is(unpacked.headers.get('content-encoding'), null)
  assert.match(unpacked.text, /^\/\*.*\*\/\n:root \{/)
  assert.is((await visitor.get('/assets/style.css?v=old')).headers.get('cache-control'), 'no-cache')
})

test('search engines find the lists and the agents that are public, and are kept off the rest', async () => {
  const robots = (await visitor.get('/robots.txt')).text
  assert.match(robots, `Sitemap: ${url}/sitemap.xml`)
  assert.match(robots, 'Disallow: /api/')
  const parse = (text: string) => new XMLParser().parse(text)
  const index = parse((await visitor.get('/sitemap.xml')).text)
  assert.is(index.sitemapindex.sitemap.loc, `${url}/sitemaps/1`)
  const map = parse((await visitor.get('/sitemaps/1')).text)
  const places = map.urlset.url.map(({ loc }: { loc: string }) => loc)
  assert.is(places.length, 3)
  for (const place of [`${url}/agents`, `${url}/agents/swift-translator`]) assert.ok(places.includes(place))
  for (const none of ['2', '0', '51', 'x', '1e1']) assert.is((await visitor.get(`/sitemaps/${none}`)).status, 404, none)
  const robotsOf = async (path: string) =>
    /<meta name="robots" content="(\w+)">/.exec((await visitor.get(path)).text)?.[1]
  for (const open of ['/agents', '/agents?category=writing', '/agents/swift-translator', '/sign-up']) {
    assert.is(await robotsOf(open), undefined, open)
  }
  for (const closed of [
    '/agents?q=swift',
    '/agents?page=9',
    '/sign-in?to=/agents',
    '/agents/none',
    '/agents/swift-translator?reviews=2',
  ]) {
    assert.is(await robotsOf(closed), 'noindex', closed)
  }
  const sorted = (await visitor.get('/agents?category=writing&sort=newest')).text
  assert.match(sorted, `<link rel="canonical" href="${url}/agents?category=writing">`, 'an order is no other list')
})

test('an agent that is hidden is not there, but for its builder; one that was listed and is gone for good is gone', async () => {
  const stranger = await marketplace.join('stranger')
  const banned = await marketplace.list(stranger, { name: 'Banned later' })
  const hidden = await marketplace.list(builder, { name: 'Hidden later' })
  const deleted = await marketplace.list(builder, { name: 'Deleted later' })
  const { id: draft } = await builder.client.createAgent({
    name: 'Never listed',
    tagline: 'Nobody has seen it so far',
    description: 'An agent that is deleted before anybody could see it, so nobody is told of it.',
    pricingModel: 'fixed',
    basePrice: 500,
    categoryIds: ['cat_writing'],
  })
  await builder.client.deactivateAgent({ id: hidden.id })
  await builder.client.deleteAgent({ id: deleted.id })
  await builder.client.deleteAgent({ id: draft })
  await admin.client.adminUpdateUser({ id: stranger.id, banned: true })
  const statuses = {
    'hidden-later': 404,
    'deleted-later': 410,
    'banned-later': 410,
    'never-listed': 404,
    'never-was': 404,
  }
  for (const [slug, expected] of Object.entries(statuses)) {
    const { status, text } = await visitor.get(`/agents/${slug}`)
    assert.is(status, expected, slug)
    assert.match(text, '<a class="b" href="/agents">To all agents</a>')
  }
  assert.ok(banned.id)
  const own = new Visitor(url)
  await own.send('/sign-in', { email: builder.email, password: builder.password })
  const mine = await own.get('/agents/hidden-later')
  assert.is(mine.status, 200)
  assert.match(wordsOf(mine.text), 'Only you see this page. The agent is deactivated.')
  assert.match(mine.text, 'noindex')
})

test('a day after its last test an agent is no longer shown, and an empty list says what will be there', async () => {
  await pass(21 * durations.hourMs)
  assert.match((await visitor.get('/agents')).text, /<span class="st wait">.{0,300}answered <time [^>]*>21 hours ago/)
  await pass(4 * durations.hourMs)
  const { status, text } = await visitor.get('/agents')
  assert.is(status, 200)
  assert.match(wordsOf(text), 'No agent is listed yet.')
  assert.match(text, 'noindex')
  assert.is((await visitor.get('/agents/swift-translator')).status, 404)
  assert.match((await visitor.get('/sitemaps/1')).text, `<url><loc>${url}/agents</loc></url></urlset>`)
})

test('a long list has pages, which name their neighbours', async () => {
  const other = await openTestMarketplace({ mode: 'dev' })
  const owner = await other.join('owner')
  for (let at = 1; at <= 21; at++) await other.list(owner, { name: `Agent ${at}` })
  const reader = new Visitor(other.url)
  const second = (await reader.get('/agents?page=2&sort=newest')).text
  assert.match(second, '<span class="n">21–21 of 21</span>')
  const neighboursOf = (text: string) =>
    [...text.matchAll(/<(?:link|a class="link") rel="(?:prev|next)" href="[^"]*">/g)].map(([link]) => link)
  assert.equal(neighboursOf(second), [
    '<link rel="prev" href="/agents?sort=newest">',
    '<a class="link" rel="prev" href="/agents?sort=newest">',
  ])
  assert.match(second, `<link rel="canonical" href="${other.url}/agents?page=2">`)
  assert.equal(neighboursOf((await reader.get('/agents')).text), [
    '<link rel="next" href="/agents?page=2">',
    '<a class="link" rel="next" href="/agents?page=2">',
  ])
  assert.equal(neighboursOf((await reader.get('/agents?page=9')).text), ['<link rel="prev" href="/agents?page=2">'])
  assert.is((await reader.get('/')).headers.get('location'), '/docs', 'who builds an agent looks for the interface')
  await other.close()
})

test.run()
