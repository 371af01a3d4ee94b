/** The thread that makes snapshots, so that requests never wait for one. Ends when its one snapshot is made. */
import { parentPort, workerData } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import type { Task } from './fold.ts'
import { foldSealed } from './snapshot.ts'
import { useCompiled } from './wasm.ts'

const { file, sqlite }: Task = workerData
useCompiled(sqlite)
parentPort!.postMessage(await foldSealed(realDisk, file))
