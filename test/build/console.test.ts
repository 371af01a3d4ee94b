// engines: embedded; process: shared
/** What the build makes of the console: names by content, nothing from elsewhere, and no more than a page may weigh. */
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const folder = 'dist/console'
const files = readdirSync(folder)
const text = (file: string) => readFileSync(`${folder}/${file}`, 'utf8')
const page = text('index.html')
const packed = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + gzipSync(text(name), { level: 9 }).length, 0)
const scripts = files.filter(name => name.endsWith('.js'))

/** What a script loads at once: not what it loads when a page is opened. */
function loadedBy(name: string, seen = new Set<string>()): Set<string> {
  if (!seen.has(name)) {
    seen.add(name)
    for (const [, other] of text(name).matchAll(/\bimport\s*(?:[^'"()]*from\s*)?"\.\/([^"]+)"/g)) loadedBy(other!, seen)
  }
  return seen
}

test('the page names every file by its content, and nothing of another origin', () => {
  const named = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(match => match[1]!)
  assert.is(named.length, 4)
  for (const name of named) {
    assert.match(name, /^\/console\/\w+-[0-9A-Z]{8}\.(?:js|css|svg)$/)
    assert.ok(files.includes(name.slice('/console/'.length)), name)
  }
  assert.not.match(page, /\{\w+\}|style=|<script>|\son\w+=/)
  for (const name of files)
    assert.not.match(text(name).replaceAll('http://www.w3.org/', ''), /url\(|@import|https?:\/\/\w+\.\w+\//, name)
})

test('what the client reads of the records is there, and no shapes are', () => {
  const all = scripts.map(text).join('\n')
  assert.ok(all.includes('/api/tasks/:id/request-revision'))
  for (const word of ['zod', 'createHmac', 'innerHTML', 'dangerouslySetInnerHTML:'])
    assert.not.ok(all.includes(`${word}(`), word)
})

test('the first page and all pages keep to their budgets', () => {
  const named = (start: string) => scripts.find(name => name.startsWith(start))!
  // Of who is not signed in: it has all of the others' first page, and signing in.
  const first = packed([...new Set([named('theme-'), ...loadedBy(named('main-')), ...loadedBy(named('sign-in-'))])])
  const style = packed(files.filter(name => name.endsWith('.css')))
  assert.ok(first < 30_000, `the first page has ${first} bytes of script`)
  assert.ok(style < 10_000, `${style} bytes of style`)
  assert.ok(packed(scripts) < 70_000, `${packed(scripts)} bytes of script in all`)
})

test.run()
