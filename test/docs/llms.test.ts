// engines: embedded; process: own; lengths: short, long
/** docs/llms.txt: a coding agent that types what it prints gets on. Its links are tried with those of all packed pages (cli/package). */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wholeTable } from '../../src/cli/command-table.ts'
import { isLong } from '../support/length.ts'
import { blocksOf } from './guide.ts'
import { withReader } from './reader.ts'

const page = readFileSync('docs/llms.txt', 'utf8')

test('it is short, and begins as such pages do', () => {
  assert.match(page, /^# agent-marketplace\n\n> .+\n\n/)
  assert.ok(page.length < 6_000, `${page.length}`)
  assert.equal(
    [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading),
    ['Signatures', 'The judge', 'Commands', 'Pages'],
  )
})

test('each command that it names is there', async () => {
  const { chapters } = await wholeTable()
  const known = new Set(chapters.flatMap(([, records]) => records.map(({ name }) => name)))
  const named = [...page.matchAll(/^- `marketplace ([a-z -]+)`: /gm)].map(([, name]) => name!)
  assert.ok(named.length > 10)
  assert.equal(
    named.filter(name => !known.has(name)),
    [],
  )
})

if (isLong) {
  test(
    'its agent and its command lines work as they are printed, one after the other',
    withReader(async (reader, folder) => {
      const [agent, lines] = blocksOf('docs/llms.txt')
      writeFileSync(join(folder, agent!.name), agent!.code)
      const [install, first, ...rest] = lines!.code.trimEnd().split('\n')
      assert.is(install, 'npm install agent-marketplace')
      await reader.starts(first!).says('my-agent can be hired')
      // All checks are run by others.
      const said = await Promise.all(
        rest.map(line => reader.types(line.replace(/(--start '.*')/, '$1 --only sig.valid'))),
      )
      for (const [at, words] of ['is completed', 'There are no webhooks', 'exchange_', 'must 1/1', 'rule'].entries())
        assert.match(said[at]!, words)
    }),
  )
}

test.run()
