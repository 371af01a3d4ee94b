/** What the coverage table is made of. */

/**
 * One row of the interface: what it says, which tests hold it (`file: beginning of the names`, without `.test.ts`; the
 * first one must fail under the mutation), and the mutation: a file of src, a text that is in it once, what takes its place.
 */
export type Row = readonly [what: string, held: string | readonly string[], file: string, from: string, to: string]

export interface Held {
  readonly file: string
  readonly names: string
}

export const heldBy = ([, held]: Row): Held[] =>
  (typeof held === 'string' ? [held] : held).map(text => {
    const [, file = '', names = ''] = /^(\S+): (.+)$/.exec(text) ?? []
    return { file: `${file}.test.ts`, names }
  })
