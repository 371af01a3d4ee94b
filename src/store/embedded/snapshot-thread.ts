/** Starts the thread that makes a snapshot. */
import { Worker } from 'node:worker_threads'
import type { Proof } from './fence.ts'
import { compiled, type Program } from './sqljs-internals.ts'

export interface Task {
  file: string
  /** Identifies the lock of this process. */
  proof: Proof | null
  sqlite: Program
}

/** Folds the sealed journal of `file` into its snapshot in a thread. Resolves to the snapshot's size in bytes. */
export const foldInWorker = async (file: string, proof: Proof | null) => {
  const sqlite = await compiled()
  return new Promise<number>((resolve, reject) => {
    const worker = startWorker({ file, proof, sqlite })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', code => reject(new Error(`the snapshot's thread ended with code ${code}`)))
  })
}

const startWorker = (workerData: Task) => {
  if (!import.meta.url.endsWith('.ts')) {
    // The thread does not need the modules that the options of the process load, which would cost it a second.
    return new Worker(new URL('./snapshot-worker.js', import.meta.url), { workerData, execArgv: [] })
  }
  // When run from source: a thread does not inherit the TypeScript loader, so it loads it itself.
  const { href } = new URL('./snapshot-worker.ts', import.meta.url)
  const loader = import.meta.resolve('tsx/esm/api')
  const start = `import('${loader}').then(tsx => { tsx.register(); return import('${href}') })`
  return new Worker(start, { eval: true, workerData })
}
