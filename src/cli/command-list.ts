/**
 * What the help of the program lists. The build puts the list itself in the place of this module, because a start that loads all records takes
 * 2.5 times as long as a bare Node, and with the list 1.8 times. Source: A-279.
 */
import { groups, wholeTable } from './command-table.ts'

interface Listed {
  readonly heading: string
  readonly word: string
  readonly summary: string
}

/** The first word of each command, in the order of the help. */
export async function commandList(): Promise<readonly Listed[]> {
  const { chapters } = await wholeTable()
  const listed = new Map<string, Listed>()
  for (const [heading, records] of chapters)
    for (const { name, summary } of records) {
      const [word = '', ...rest] = name.split(' ')
      if (listed.has(word)) continue
      listed.set(word, { heading, word, summary: rest.length > 0 ? (groups[word]?.summary ?? '') : summary })
    }
  return [...listed.values()]
}
