/**
 * The colours of what is printed, by chalk. It is loaded only where something may be coloured: with what it asks of Node it takes 8 ms of a start
 * and 2 MB.
 */
import type { ChalkInstance } from 'chalk'
import { wantsColour } from '../../settings/config.ts'

const NAMES = ['bold', 'cyan', 'dim', 'green', 'red', 'yellow'] as const
export type Colours = Pick<ChalkInstance, (typeof NAMES)[number]>

const NONE = Object.fromEntries(NAMES.map(name => [name, String])) as unknown as Colours
let loaded: Colours | undefined

/** Call it before anything is printed. */
export async function loadColours(
  areWanted = wantsColour(process.stdout) || wantsColour(process.stderr),
): Promise<void> {
  if (!areWanted || loaded) return
  const { Chalk } = await import('chalk')
  loaded = new Chalk({ level: 1 })
}

export const coloursOf = (inColour: boolean): Colours => (inColour && loaded) || NONE
