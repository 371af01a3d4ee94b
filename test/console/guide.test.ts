// engines: embedded; process: shared
/** The guide of the console shows each of its pages, in a small picture that the script makes. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { pages } from '../../src/console/pages.ts'
import { sameNames } from '../support/same-names.ts'
import { pictured } from './pictured.ts'

const FOLDER = 'docs/pictures'
const MOST_BYTES = 100 * 1024

test('each page has its picture, and the guide shows all of them', () => {
  sameNames(
    Object.keys(pictured).filter(path => path !== '/sign-in'),
    pages.map(({ path }) => path),
    'Name its picture in test/console/pictured.ts',
  )
  const guide = readFileSync('docs/guides/console.md', 'utf8')
  const shown = [...guide.matchAll(/\]\(\.\.\/pictures\/([\w-]+)\.png\)/g)].map(([, name]) => name!)
  sameNames(shown, new Set(Object.values(pictured)), 'Show it in docs/guides/console.md')
})

test('no picture is large, and none is left over', () => {
  const files = readdirSync(FOLDER)
  for (const file of files) {
    const { size } = statSync(`${FOLDER}/${file}`)
    assert.ok(size <= MOST_BYTES, `${file} has ${size} bytes`)
  }
  const wanted = [...new Set(Object.values(pictured)), 'catalogue', 'public-agent']
  sameNames(
    files,
    wanted.map(name => `${name}.png`),
    'npm run pictures makes them',
  )
})

test.run()
