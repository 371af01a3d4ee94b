/** A folder on the real disk for one test, gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const inFolder = (work: (file: string) => Promise<void>) => async () => {
  const folder = await mkdtemp(join(tmpdir(), 'store-'))
  try {
    await work(join(folder, 'market.db'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const unexpected = (error: Error) => {
  throw error
}
