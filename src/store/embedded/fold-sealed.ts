/** Folds the sealed journal into the snapshot, while units go on in the current journal. */
import type { Disk } from './disk.ts'
import { stepsOfFold } from './file-state.ts'
import { recover, runSteps } from './recovery.ts'
import { copySnapshot, openDraft, temporaryPath } from './snapshot.ts'

/**
 * Folds the sealed journal of `file` into its snapshot, then removes the journal. Resolves to the snapshot's size in bytes.
 */
export const foldSealed = async (disk: Disk, file: string) => {
  const draft = await openDraft(disk, file)
  let bytes: number
  try {
    const snapshot = () => copySnapshot(disk, file, draft)
    const recovered = await recover(disk, file, { parts: ['sealed'], snapshot })
    try {
      const { snapshotBytes } = await runSteps(disk, file, { steps: stepsOfFold(recovered.state), recovered })
      bytes = snapshotBytes
    } finally {
      recovered.engine.close()
    }
  } finally {
    await draft.close()
  }
  await disk.remove(temporaryPath(file)) // it is still there if a packed copy has taken its place
  return bytes
}
