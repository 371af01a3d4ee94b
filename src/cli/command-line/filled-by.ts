/** Maps each field of a request to the flag, argument or question that fills it, so that a refusal names what people can type. */
import type { CommandRecord } from './command.ts'

type Filling = Pick<CommandRecord, 'options' | 'fills'>

/** What was chosen goes first, where several flags fill the field. What came from `--file` has the name that it has there. */
export function wordFor({ options, fills }: Filling, chosen: Readonly<Record<string, unknown>>, field: string): string {
  const words = [...(fills?.() ?? []), ...options.map(ofOption)]
    .filter(([name]) => name === field)
    .map(([, word]) => word)
  const given = words.find(word => !isFlag(word) || chosen[attributeOf(word)] !== undefined)
  if (given !== undefined) return given
  return chosen.file === undefined ? (words[0] ?? field) : field
}

const isFlag = (word: string) => word.startsWith('--')

/** A flag fills the field of its name, if nothing else is said. */
const ofOption = ([flags]: CommandRecord['options'][number]) => [attributeOf(flags), flagIn(flags)] as const

export const flagIn = (flags: string) => flags.split(' ', 1)[0]!

/** `--refund-amount <cents>` → `refundAmount`, which is commander's name for it. */
export const attributeOf = (flags: string) =>
  flagIn(flags)
    .slice(2)
    .replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
