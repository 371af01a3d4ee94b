// engines: embedded, postgres; process: shared
/** A watched database does what it does unwatched, and each of its units is told of once. Source: A-231. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { openTestMarketplace } from '../support/marketplace.ts'

interface Line {
  unit: string
  outcome: string
  runs?: number
  more?: number
  statements: { sql: string; ms: number }[]
}

test('a whole life runs on it; units tell of their statements without values, and of how they ended', async () => {
  const lines: Line[] = []
  const marketplace = await openTestMarketplace({ debug: { sql: line => void lines.push(line as unknown as Line) } })
  const buyer = await marketplace.join('buyer', 5_000)
  const { id } = await marketplace.draft(buyer, await marketplace.list(await marketplace.join('builder')))
  await buyer.call('POST', `/api/tasks/${id}/submit`)
  await marketplace.webhooksSent()
  await marketplace.checkLedger()
  const { db } = marketplace.market

  lines.length = 0
  const value = 'a value that stays unsaid'
  assert.is((await db.readCommitted(q => q.get<{ text: string }>('SELECT $1 AS text', [value])))!.text, value)
  assert.is((await db.read(q => q.all('SELECT id FROM users ORDER BY id'))).length, 3)
  const failed = await db.write(tx => tx.run('UPDATE accounts SET balance = -1')).catch(error => error)
  const many = await db.write(async tx => {
    for (let at = 0; at < 60; at++) await tx.run('DELETE FROM tasks\n  WHERE id = $1', ['none'])
    return tx.runAll([{ sql: 'UPDATE users SET name = name WHERE id = $1', values: [buyer.id] }])
  })
  assert.equal(many, [true])
  const own = lines.filter(({ statements }) =>
    statements.some(({ sql }) => /AS text|ORDER BY id$|-1|tasks WHERE/.test(sql)),
  )
  assert.equal(
    own.map(({ unit, outcome, more }) => [unit, outcome, more]),
    [
      ['readCommitted', 'done', undefined],
      ['read', 'done', undefined],
      ['write', failed.constructor.name, undefined],
      ['write', 'done', 11],
    ],
  )
  assert.is(own[0]!.statements[0]!.sql, 'SELECT $1 AS text')
  assert.is(own[3]!.statements[0]!.sql, 'DELETE FROM tasks WHERE id = $1')
  assert.not.match(JSON.stringify(lines), value)
  await marketplace.close()
})

test.run()
