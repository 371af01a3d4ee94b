// engines: embedded; process: own
/** Each link of a page leads to a file or a heading, and each file of ours that a page names is there. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { unknownParts } from '../support/unmatched.ts'
import { anchorsOf, deadLinksIn } from './links.ts'

const files = new Set(
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .split('\n')
    .filter(path => path !== '' && existsSync(path)),
)
const pages = [...files].filter(path => /\.md$|\/llms\.txt$/.test(path))

/** Files that a text names, by their paths or by the ends of these, and that are not there. */
const missingIn = (text: string) =>
  [...text.matchAll(/`([\w./-]+\.ts)`/g)]
    .map(([, path]) => path!)
    .filter(path => ![...files].some(file => file === path || file.endsWith(`/${path}`)))

test('each link of each page leads to a file or a heading', () => {
  for (const page of ['README.md', 'CONTRIBUTING.md', 'docs/llms.txt', 'docs/decisions/money.md'])
    assert.ok(pages.includes(page), page)
  const dead = pages.flatMap(page => deadLinksIn(page, files).map(target => `${page}: ${target}`))
  assert.equal(dead, [])
})

test('each file of the source that a page names is there', () => {
  const missing = pages.flatMap(page => missingIn(readFileSync(page, 'utf8')).map(path => `${page}: ${path}`))
  assert.equal(missing, [])
  assert.equal(missingIn('`src/open/open.ts` · `sim/seed.ts` · `seed.ts` · `sim/seeds.ts` · `eed.ts`'), [
    'sim/seeds.ts',
    'eed.ts',
  ])
})

test('`npx marketplace` is another package, except in a clone', () => {
  const others = (text: string) =>
    text.split('\n').filter(line => /npx marketplace\b/.test(line) && !/npm ci|npm run build/.test(line))
  const wrong = [...pages, '.github/ISSUE_TEMPLATE/bug.yml'].flatMap(page =>
    others(readFileSync(page, 'utf8')).map(line => `${page}: ${line}`),
  )
  assert.equal(wrong, [])
  assert.is(others('npx marketplace dev\nnpm ci && npx marketplace demo\nnpx agent-marketplace dev').length, 1)
})

test('each test that a page names with `npm test -- …` is there', () => {
  const partsOf = (page: string) =>
    [...readFileSync(page, 'utf8').matchAll(/npm test -- ([^`\n&]+)/g)].flatMap(([, parts]) =>
      parts!
        .replace(/--engine \w+|--whole/, '')
        .trim()
        .split(/\s+/)
        .filter(part => part !== '' && !part.includes('<')),
    )
  assert.ok(pages.flatMap(partsOf).length > 20)
  assert.equal(
    pages.flatMap(page => unknownParts(partsOf(page)).map(sentence => `${page}: ${sentence}`)),
    [],
  )
})

test('a link that leads nowhere is found: to no file, to no heading, to one that stands in code alone', () => {
  const text =
    '[a](src/index.ts) [b](guides) [c](guides/agents.md#verifying) [d](guides/agents.md#no) [e](#no) [f](interface.md#i-escrow) [g](https://a.example#b)'
  assert.equal(deadLinksIn('docs/glossary.md', files, text), ['src/index.ts', 'guides/agents.md#no', '#no'])
  assert.equal(anchorsOf('# A `b`, [c](d.md)\n```sh\n# no\n```\n## Same\n## Same\n<a id="own"></a>'), [
    'a-b-c',
    'same',
    'same-1',
    'own',
  ])
})

test.run()
