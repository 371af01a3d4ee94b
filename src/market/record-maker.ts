/** Makes the records of responses from rows. A field that is a column of the same name and type is named by the record alone. */
import type * as z from 'zod'
import { once } from '../shared/once.ts'
import type { Columns, Row, Table } from '../store/tables/table.ts'

/** The columns that a record shows, as they are or as something made of them. */
type Shown<R, C extends Columns> = Pick<Row<Table<C>>, keyof R & keyof C>
type Alike<R, Seen> = { [K in keyof R & keyof Seen]: [Seen[K]] extends [R[K]] ? K : never }[keyof R & keyof Seen]

/**
 * Returns a function that takes a row and all fields that are not simply its columns. A column that the record does not name stays
 * unseen. The fields come in the order of the record. A task takes 0.45 µs so, a third of what its JSON takes at most. Source: A-265.
 */
export function recordMaker<Shape extends z.ZodRawShape, C extends Columns>(
  shapeOf: () => z.ZodObject<Shape>,
  { columns }: Table<C>,
) {
  type R = z.infer<z.ZodObject<Shape>>
  type Seen = Shown<R, C>
  const known = once(() => {
    const fields = Object.keys(shapeOf().shape)
    const copied = fields.filter(field => Object.hasOwn(columns, field)) as (keyof Seen)[]
    return { copied, empty: Object.fromEntries(fields.map(field => [field, null])) }
  })
  return (row: Seen, made: Omit<R, Alike<R, Seen>>): R => {
    const { copied, empty } = known()
    const record: Partial<Seen> = { ...empty } as Partial<Seen>
    for (const field of copied) record[field] = row[field]
    return Object.assign(record, made) as R
  }
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** The fields that a request gives. One that it leaves out may be there as undefined, and would hide what is kept. */
export const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
