/**
 * The colours of what is printed, by chalk. It is loaded only where something may be coloured: with what it asks of Node it takes 8 ms of a start
 * and 2 MB.
 */
import { wantsColour } from '../../settings/config.ts'

export type Colours = Readonly<Record<'bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow', (text: string) => string>>

const NONE: Colours = { bold: String, cyan: String, dim: String, green: String, red: String, yellow: String }
let loaded: Colours | undefined

/** Call it before anything is printed. It decides by itself, because chalk would ignore a terminal that asks for none. */
export async function loadColours(
  areWanted = wantsColour(process.stdout) || wantsColour(process.stderr),
): Promise<void> {
  if (!areWanted || loaded) return
  const { Chalk } = await import('chalk')
  loaded = new Chalk({ level: 1 })
}

export const coloursOf = (inColour: boolean): Colours => (inColour && loaded) || NONE
