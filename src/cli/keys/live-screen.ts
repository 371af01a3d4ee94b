/** What a live log is shown on: a terminal with keys, or anything else. Source: A-254. */
import type { StampedEntry } from '../../market/log.ts'
import { canMoveCursor } from '../../settings/config.ts'
import { createUi, type Ui } from '../output/ui.ts'
import type { ShownDev } from './actions.ts'

export interface LiveScreen {
  /** Prints above the key line. */
  readonly ui: Ui
  /** Counts an entry. */
  hear(entry: StampedEntry): void
  /** Whether the filter lets an entry through. */
  readonly isWanted: (entry: StampedEntry, rows: readonly string[]) => boolean
  /** From now on keys act on this dev. */
  begin(dev: ShownDev): void
  /** Leaves the terminal as it was. May be called again. */
  close(): void
}

/** Keys are loaded for a terminal alone. */
export async function liveScreen(json: boolean): Promise<LiveScreen> {
  if (json || !process.stdin.isTTY || !canMoveCursor(process.stdout)) return plainScreen()
  const { KeyScreen } = await import('./key-screen.ts')
  return new KeyScreen()
}

const plainScreen = (): LiveScreen => ({
  ui: createUi(),
  hear: () => {},
  isWanted: () => true,
  begin: () => {},
  close: () => {},
})
