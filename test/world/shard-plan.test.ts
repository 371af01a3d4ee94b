// engines: embedded; process: shared
/** The page about growing shows what the plan of its shards comes to, and no cent is lost or doubled by it. Source: A-322. */
import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { playShards, shardTable } from './shard-plan.ts'

test('the page has the table as it comes out', () => {
  const table = shardTable()
  assert.is(
    readFileSync('docs/guides/scale.md', 'utf8').includes(table),
    true,
    `docs/guides/scale.md should have:\n${table}`,
  )
})

test('couriers die between their two units, and the books of all shards agree nevertheless', () => {
  assert.is(playShards(10).deaths > 10, true)
})

test.run()
