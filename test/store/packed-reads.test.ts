// engines: embedded; process: shared
/** How reads are packed, whatever carries them. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PackedReads } from '../../src/store/postgres/packed-reads.ts'

const turn = () => new Promise(resolve => setImmediate(resolve))

test('two packets are under way at most, and what comes meanwhile goes together when one of them ends', async () => {
  const packets: { texts: string[]; end(): void }[] = []
  const reads = new PackedReads(groups => {
    const carried = groups.flat()
    return new Promise<void>(ended => {
      const end = () => {
        for (const { asked, resolve } of carried) resolve({ rows: [{ text: asked.text }], rowCount: 1 } as never)
        ended()
      }
      packets.push({ texts: carried.map(({ asked }) => asked.text), end })
    })
  })
  const ask = (sql: string) => reads.read(q => q.all<{ text: string }>(sql))
  const asked = []
  for (const sql of ['SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 4']) {
    asked.push(ask(sql))
    await turn()
  }
  const sent = () => packets.map(({ texts }) => texts)
  assert.equal(sent(), [['SELECT 1'], ['SELECT 2']])
  packets[0]!.end()
  await turn()
  await turn()
  assert.equal(sent(), [['SELECT 1'], ['SELECT 2'], ['SELECT 3', 'SELECT 4']])
  for (const { end } of packets) end()
  assert.equal(
    (await Promise.all(asked)).map(rows => rows[0]?.text),
    ['SELECT 1', 'SELECT 2', 'SELECT 3', 'SELECT 4'],
  )
})

test.run()
