// engines: embedded; process: shared
/** What the judge prints, compared with what is kept in golden/, to the letter. `npm run goldens` makes it anew. */
import { readdirSync, rmSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explain, list } from '../../src/cli/conformance/explain.ts'
import { checks } from '../../src/conform/checks/index.ts'
import { isWriting, sameAsKept } from '../support/golden.ts'
import { sameNames } from '../support/same-names.ts'
import { answering, printed, renderings } from './golden/renderings.ts'

const FOLDER = 'test/conform/golden'
const kept = readdirSync(FOLDER).filter(name => !name.endsWith('.ts'))
const printedNow = renderings()

if (isWriting) for (const name of kept) rmSync(`${FOLDER}/${name}`)
else
  test('each rendering has its file, and nothing else is kept', () => {
    sameNames(kept, Object.keys(printedNow))
  })

for (const [name, text] of Object.entries(printedNow))
  test(`as it was: ${name}`, () => sameAsKept(`${FOLDER}/${name}`, text))

const overflowing = (text: string, columns: number) => text.split('\n').filter(line => widthIn(line) > columns)

/** Counted here by hand: of wide letters there are those of the example alone. */
const widthIn = (line: string) =>
  [...stripVTControlCharacters(line)].reduce((sum, letter) => sum + (/[漢字かな交じり文]/.test(letter) ? 2 : 1), 0)

test('no line is wider than the terminal, and colours change no letter', () => {
  for (const [name, text] of Object.entries(printedNow)) {
    const columns = name.includes('.120.') ? 120 : 80
    if (/\.(?:80|120|colour)\./.test(name)) assert.equal(overflowing(text, columns), [], name)
    if (name.includes('.colour.'))
      assert.is(stripVTControlCharacters(text), printedNow[name.replace('.colour.', '.80.')], name)
  }
})

test('the list and what explains any check fit terminals of 60 columns and more', () => {
  for (const columns of [60, 80, 120])
    for (const text of [
      printed(ui => void list(answering(ui), checks), columns),
      ...checks.map(check => printed(ui => void explain(answering(ui), check), columns)),
    ])
      assert.equal(overflowing(text, columns), [], `${columns}`)
})

test('a line goes on in rows that a shell takes as one, and in a pipe it has no end', () => {
  const { 'failing.80.txt': narrow = '', 'failing.pipe.txt': wide = '' } = printedNow
  const lineIn = (text: string) => /^ {4}again ((?:.*\\\n)*.*)/m.exec(text)![1]!.replace(/ \\\n +/g, ' ')
  assert.match(narrow, / \\\n/)
  assert.is(lineIn(narrow), lineIn(wide))
})

test.run()
