// engines: embedded; process: shared
/** A record shows the columns that it names, and what is made for it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as z from 'zod'
import { recordMaker } from '../../src/market/record-maker.ts'
import { bigint, nullable, table, text } from '../../src/store/tables/table.ts'

const things = table('things', { id: text(), secret: text(), note: nullable(text()), size: bigint(), madeAt: bigint() })
const thing = z.object({
  id: z.string(),
  owner: z.object({ name: z.string() }),
  note: z.string().nullable(),
  madeAt: z.string(),
  size: z.int(),
})
const make = recordMaker(() => thing, things)
const row = { id: 'a', secret: 's', note: null, size: 3, madeAt: 7, joined: 'from another table' }

test('fields come from columns of their name or are made, in the order of the record; other columns stay unseen', () => {
  const made = make(row, { owner: { name: 'Ada' }, madeAt: 'then' })
  assert.is(JSON.stringify(made), '{"id":"a","owner":{"name":"Ada"},"note":null,"madeAt":"then","size":3}')
  assert.equal(thing.parse(made), made)
})

test('each record is one of its own', () => {
  const one = make(row, { owner: { name: 'Ada' }, madeAt: 'then' })
  const other = make({ ...row, id: 'b', note: 'n' }, { owner: { name: 'Bob' }, madeAt: 'later' })
  assert.equal([one.id, one.note, one.owner.name], ['a', null, 'Ada'])
  assert.equal([other.id, other.note, other.owner.name], ['b', 'n', 'Bob'])
})

test('the compiler asks for a field that is no column, or one of another type', () => {
  // @ts-expect-error `owner` is no column
  make(row, { madeAt: 'then' })
  // @ts-expect-error `madeAt` is a number in the row
  make(row, { owner: { name: 'Ada' } })
})

test.run()
