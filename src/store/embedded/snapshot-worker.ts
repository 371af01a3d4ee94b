/** The thread that makes snapshots, so that requests never wait for one. Ends when its one snapshot is made. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import { fenced } from './fence.ts'
import { foldSealed } from './fold-sealed.ts'
import type { Task } from './snapshot-thread.ts'
import { useCompiled } from './sqljs-internals.ts'

// Lowers the priority, so that requests go first. Only on Linux does that affect this thread alone and not the whole
// process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const { file, proof, sqlite }: Task = workerData
useCompiled(sqlite)
parentPort!.postMessage(await foldSealed(fenced(realDisk, proof), file))
