/** A folder for one test, gone afterwards: on the real disk unless `place` is elsewhere. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const inFolder =
  (work: (file: string) => Promise<void>, place = tmpdir()) =>
  async () => {
    const folder = await mkdtemp(join(place, 'store-'))
    try {
      await work(join(folder, 'market.db'))
    } finally {
      await rm(folder, { recursive: true })
    }
  }

export const unexpected = (error: Error) => {
  throw error
}
