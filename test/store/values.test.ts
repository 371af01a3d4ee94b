// engines: embedded; process: shared
/** Values on their way into SQLite's memory and out of it, at every length where its room is made anew. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Engine } from '../../src/store/embedded/statements.ts'
import { Unit } from '../../src/store/embedded/unit.ts'

// The first use of the room: all before it would have made it larger.
test('texts of three bytes a character have room beside each other, from the first one on', async () => {
  const engine = await Engine.open()
  const unit = new Unit(engine, true)
  const lengths = [1, 10_000, 21_846, 30_000, 200_000, 349_526, 400_000, 5, 30_000]
  for (const length of lengths) {
    const values = ['€'.repeat(length), 'é', null, '', 'x'.repeat(length)]
    const row = await unit.get('SELECT $1 AS a, $2 AS b, $3 AS c, $4 AS d, $5 AS e', values)
    assert.ok(
      Object.values(row as object).every((value, i) => value === values[i]),
      `${length} characters`,
    )
  }
  unit.end()
  engine.close()
})

test('what one large value took is given back with the next small one', async () => {
  const engine = await Engine.open()
  const unit = new Unit(engine, true)
  for (let i = 0; i < 3; i++) {
    assert.equal(await unit.get('SELECT LENGTH($1) AS n', ['x'.repeat(2_000_000)]), { n: 2_000_000 })
    assert.equal(await unit.get('SELECT LENGTH($1) AS n', ['x']), { n: 1 })
  }
  unit.end()
  engine.close()
})

test('numbers keep their value on both sides of 32 bits, and zero its sign for equality', async () => {
  const engine = await Engine.open()
  const unit = new Unit(engine, true)
  for (const n of [0, 1, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1]) {
    assert.equal(await unit.get('SELECT $1 AS n, $1 + 0 AS m', [n]), { n, m: n })
  }
  unit.end()
  engine.close()
})

test.run()
