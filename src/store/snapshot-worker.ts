/** The thread that makes snapshots, so that requests never wait for one. Ends when its one snapshot is made. */
import { parentPort, workerData } from 'node:worker_threads'
import { realDisk } from './disk.ts'
import { foldSealed } from './snapshot.ts'

parentPort!.postMessage(await foldSealed(realDisk, workerData as string))
