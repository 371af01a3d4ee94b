// engines: embedded; process: shared
/** How many entries a list has, from a page of it where that says so, and counted where it does not. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { totalOf } from '../../src/store/tables/table.ts'

const COUNTED = 77
const page = (rows: number, limit: number, offset: number, inAll?: number) =>
  totalOf(
    Array.from({ length: rows }, () => (inAll === undefined ? {} : { inAll })),
    [limit, offset],
    async () => COUNTED,
  )

test('a page that ends before its limit is the last: nothing is counted', async () => {
  assert.equal([await page(3, 20, 0), await page(3, 20, 40), await page(0, 20, 0)], [3, 43, 0])
  assert.is(await page(12, 30, 9_990), 10_000, 'the last that is shown')
})

test('a full page, one past the end and one behind all that is shown are counted', async () => {
  assert.equal([await page(20, 20, 0), await page(0, 20, 40), await page(0, 0, 0)], [COUNTED, COUNTED, COUNTED])
})

test('rows that say how many there are, are believed up to the last that is shown', async () => {
  assert.equal([await page(20, 20, 0, 35), await page(1, 20, 0, 9), await page(1, 20, 0, 20_000)], [35, 9, 10_000])
})

test.run()
