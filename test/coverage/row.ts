/** What the coverage table is made of. */

/** A file of src, a text that is in it once, and what takes its place. */
export type Edit = readonly [file: string, from: string, to: string]

/**
 * One row of the interface: what it says, which tests hold it (`file: beginning of the names`, without `.test.ts`; the
 * first one must fail under the mutation), and the mutation.
 */
export type Row = readonly [what: string, held: string | readonly string[], ...mutation: Edit, more?: More]

interface More {
  /** The first test runs on Postgres, where the mutation matters. */
  readonly engine?: 'postgres'
  /** What stands behind the first text, and would do its work. */
  readonly also?: readonly Edit[]
}

export interface Held {
  readonly file: string
  readonly names: string
}

export const heldBy = ([, held]: Row): Held[] =>
  (typeof held === 'string' ? [held] : held).map(text => {
    const [, file = '', names = ''] = /^(\S+): (.+)$/.exec(text) ?? []
    return { file: `${file}.test.ts`, names }
  })

export const editsOf = ([, , file, from, to, more]: Row): readonly Edit[] => [[file, from, to], ...(more?.also ?? [])]

export const engineOf = ([, , , , , more]: Row) => more?.engine ?? 'embedded'
