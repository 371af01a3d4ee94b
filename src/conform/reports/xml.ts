/** Writes XML. */
import Builder from 'fast-xml-builder'

/** Attributes have names that begin with `@`; `#text` is what stands within. */
export type Element = { readonly [name: string]: string | number | Element | readonly Element[] }

const builder = new Builder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  format: true,
  suppressEmptyNode: true,
})

// XML knows no way to write these.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

export const xml = (root: Element): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build(legal(root))}`.trimEnd().concat('\n')

function legal(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replace(ILLEGAL, '\ufffd')
  if (Array.isArray(value)) return value.map(legal)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, legal(inner)]))
}
