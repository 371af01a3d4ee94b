// engines: embedded, postgres; process: shared
/** The database itself refuses what must never be, on both engines, whatever the code above it believes. Source: A-33. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConstraintError, type Tx } from '../../src/store/db.ts'
import { openTestMarketplace, type TestMarketplace } from '../support/marketplace.ts'
import { parentsOf, tables } from './table-rules.ts'

type Row = Record<string, string | number | null>

const rule = suite<{ marketplace: TestMarketplace }>('the rules of tables')

rule.before(async state => {
  state.marketplace = await openTestMarketplace()
})
rule.after(({ marketplace }) => marketplace.close())

const words = (text: string) => text.split(' ').filter(Boolean)

const insert = (tx: Tx, table: string, row: Row) =>
  tx.run(
    `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row).map((_, i) => `$${i + 1}`)})`,
    Object.values(row),
  )

const undone = new Error('undone')

/** How the last of these rows is refused, behind the row that the table takes; null if it is taken. */
async function refusal({ market }: TestMarketplace, table: string, ...more: Row[]): Promise<string | null> {
  const end = await market.db
    .write(async tx => {
      for (const parent of parentsOf(table)) await insert(tx, parent, tables[parent]!.row)
      for (const row of more) await insert(tx, table, row)
      throw undone
    })
    .catch((error: unknown) => error)
  if (end === undone) return null
  assert.instance(end, ConstraintError, String(end))
  return (end as ConstraintError).kind
}

/** Another row of the same table, but for `same`. */
function unlike({ row, refers, unique }: (typeof tables)[string], same: string): Row {
  const keys = new Set(unique.flatMap(words))
  const fixed = new Set([...Object.keys(refers), ...words(same)])
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const other = typeof value === 'number' ? value + 1 : `${value} 2`
      return [name, keys.has(name) && !fixed.has(name) ? other : value]
    }),
  )
}

for (const [table, rules] of Object.entries(tables)) {
  rule(
    `${table}: a row at the edge of its rules is taken, and one without a value that it needs is not`,
    async ({ marketplace }) => {
      assert.is(await refusal(marketplace, table, rules.row), null)
      for (const column of rules.required) {
        assert.is(await refusal(marketplace, table, { ...rules.row, [column]: null }), 'not_null', column)
      }
    },
  )

  rule(`${table}: no second row with the same ${rules.unique.join(' or ')}`, async ({ marketplace }) => {
    for (const same of rules.unique) {
      assert.is(await refusal(marketplace, table, rules.row, unlike(rules, same)), 'unique', same)
    }
  })

  if (Object.keys(rules.refers).length > 0 || rules.wrong.length > 0) {
    rule(`${table}: no row that refers to nothing, none past a CHECK`, async ({ marketplace }) => {
      for (const column of Object.keys(rules.refers)) {
        assert.is(await refusal(marketplace, table, { ...rules.row, [column]: 'nobody' }), 'foreign_key', column)
      }
      for (const wrong of rules.wrong) {
        assert.is(await refusal(marketplace, table, { ...rules.row, ...wrong }), 'check', JSON.stringify(wrong))
      }
    })
  }
}

rule('only the world may owe', async ({ marketplace }) => {
  for (const kind of ['available', 'held', 'clearing']) {
    const row = { id: `${kind}:w`, user_id: 'w', kind }
    assert.is(await refusal(marketplace, 'accounts', { ...row, balance: 0 }), null)
    assert.is(await refusal(marketplace, 'accounts', { ...row, balance: -1 }), 'check', kind)
  }
  const owing = (id: string) =>
    marketplace.market.db.write(tx => tx.run(`UPDATE accounts SET balance = -1 WHERE id = $1`, [id]))
  await owing('world')
  for (const id of ['payouts', 'platform']) {
    assert.is(
      await owing(id).then(
        () => 'taken',
        ({ kind }: ConstraintError) => kind,
      ),
      'check',
      id,
    )
  }
})

rule.run()
