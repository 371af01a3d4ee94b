// engines: embedded; process: shared
/** The name, the colours and the logo that an operator gives the public pages. Source: A-308. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { brandOf } from '../../src/settings/brand.ts'
import { readSettings } from '../../src/settings/config.ts'
import { openTestMarketplace } from '../support/marketplace.ts'
import { Visitor, wordsOf } from './visitor.ts'

const folder = mkdtempSync(join(tmpdir(), 'brand-'))
const test = suite('brand')
test.after(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const SVG = '<?xml version="1.0"?>\n<!-- by us -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'

function refused(...given: Parameters<typeof brandOf>): string {
  try {
    brandOf(...given)
  } catch (error) {
    return (error as Error).message
  }
  return 'it was taken'
}

test('pages have the name, the colours and the logo of the settings', async () => {
  const { brand } = readSettings(
    'serve',
    {},
    {
      MARKETPLACE_BRAND_NAME: ' Acme & <Agents> ',
      MARKETPLACE_BRAND_COLORS: '#8A1C4A',
      MARKETPLACE_BRAND_LOGO: file('logo.svg', SVG),
    },
  )
  const marketplace = await openTestMarketplace({ mode: 'serve', brand })
  const visitor = new Visitor(marketplace.url)
  const { text } = await visitor.get('/agents')
  assert.match(text, '<title>Agents that work for money · Acme &amp; &lt;Agents&gt;</title>')
  assert.match(wordsOf(text), 'Acme & <Agents>')
  const logo = /<img class="logo" src="(\/assets\/logo\?v=\w+)" alt=""/.exec(text)![1]!
  assert.match(text, `<meta property="og:image" content="${marketplace.url}${logo}">`)
  assert.match(text, `<link rel="icon" href="${logo}">`)
  const picture = await visitor.get(logo)
  assert.equal([picture.text, picture.headers.get('content-type')], [SVG, 'image/svg+xml'])
  assert.is(
    picture.headers.get('content-security-policy'),
    "default-src 'none'; sandbox",
    'opened by itself it runs nothing',
  )
  assert.match(picture.headers.get('cache-control')!, 'immutable')
  const style = await visitor.get(/href="(\/assets\/style\.css\?v=\w+)"/.exec(text)![1]!)
  assert.match(style.text, `:root { --accent: light-dark(#8a1c4a, ${brand.colors!.dark});`)
  const page = (await visitor.get('/console')).text
  assert.match(page, `<html lang="en" data-mode="serve" data-name="Acme &amp; &lt;Agents&gt;" data-logo="${logo}">`)
  assert.match(page, '<title>Acme &amp; &lt;Agents&gt;</title>')
  assert.match(page, `<link rel="icon" href="${logo}">`)
  const own = await visitor.get(/href="(\/console\/brand-\w+\.css)"/.exec(page)![1]!)
  assert.match(own.text, `--accent: light-dark(#8a1c4a, ${brand.colors!.dark});`)
  assert.match(own.headers.get('cache-control')!, 'immutable')
  await marketplace.close()
})

test('without a brand a page has the host of the public address, and a sign of its own', async () => {
  const baseUrl = 'https://market.example.org'
  const marketplace = await openTestMarketplace({ mode: 'serve', baseUrl })
  const { text } = await new Visitor(marketplace.url).get('/agents')
  assert.match(text, '· market.example.org</title>')
  assert.match(text, `<meta property="og:url" content="${baseUrl}/agents">`)
  assert.not.match(text, /<img|og:image/)
  await marketplace.close()
})

test('a colour that can not be read is refused, and the one that is named instead is taken', () => {
  for (const [colors, on] of [
    ['#ffff00', 'light'],
    ['#1d4ed0,#1d4ed0', 'dark'],
    ['#777777', 'light'],
  ] as const) {
    const message = refused('', colors)
    const [, hard, ground, ratio, better] =
      /^MARKETPLACE_BRAND_COLORS: (#\w{6}) is hard to read on (\w+) ground: its contrast is ([\d.]+), and 4\.5 is needed\. (#\w{6}) has it\.$/.exec(
        message,
      ) ?? []
    assert.is(ground, on, message)
    assert.ok(Number(ratio) < 4.5)
    assert.ok(
      brandOf(
        '',
        colors
          .split(',')
          .with(on === 'light' ? 0 : -1, better!)
          .join(','),
      ),
      `${better} for ${hard}`,
    )
  }
  assert.match(refused('', '#777777'), ' #6d6d6d has it', 'nearly as it was given')
  assert.equal(brandOf('', '#1D4ED0,#92b4ff').colors, { light: '#1d4ed0', dark: '#92b4ff' })
  const { light, dark } = brandOf('', '#000000').colors!
  assert.is(light, '#000000')
  assert.ok(brandOf('', `${light},${dark}`))
  for (const bad of ['red', '#fff', '#1d4ed0,', '#1d4ed0,#92b4ff,#000000', '#1d4ed0;}']) {
    assert.match(refused('', bad), 'takes one colour or two', bad)
  }
})

test('a name is one line, and a logo a small picture', () => {
  for (const bad of [' ', 'a\nb', 'a\u202eb', 'x'.repeat(61)])
    assert.match(refused(bad), 'BRAND_NAME takes 1 to 60', bad)
  assert.is(brandOf('Ünï Märkt').name, 'Ünï Märkt')
  const png = Buffer.from('89504e470d0a1a0a0000', 'hex')
  assert.is(brandOf('', '', file('a.png', png)).logo!.type, 'image/png')
  assert.is(brandOf('', '', file('a.webp', 'RIFF\0\0\0\0WEBPVP8 ')).logo!.type, 'image/webp')
  assert.match(refused('', '', file('a.svg', '<html><svg></svg></html>')), 'takes a PNG, WebP or SVG file')
  assert.match(refused('', '', file('b.png', Buffer.concat([png, Buffer.alloc(64 * 1024)]))), 'at most 64 KiB')
  assert.match(refused('', '', join(folder, 'none.png')), /none\.png can't be read: ENOENT/)
  assert.match(refused('', '', folder), /can't be read/)
})

test.run()
