/** Files of deliverables. Source: D22. */
import { allFileIds } from '../store/deliverables.ts'
import type { Market } from './market.ts'

/** An upload is over long before this, one way or the other. */
const ORPHAN_AGE_MS = 60 * 60 * 1000

/** Removes what a crash left between the arrival of a file and the deliverable that would have held it. */
export async function removeOrphans({ db, files, world }: Market): Promise<void> {
  const candidates: string[] = []
  for await (const id of files.list(world.realNow() - ORPHAN_AGE_MS)) candidates.push(id)
  if (candidates.length === 0) return
  const held = await db.read(allFileIds)
  for (const id of candidates) if (!held.has(id)) await files.remove(id)
}
