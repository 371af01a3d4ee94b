/**
 * Bounds the bytes of files that are on the disk while their uploads go on, before any deliverable has them: for one account
 * and in all, and an account's own within its quota. Source.
 */
import { type Refusal, refuse } from '../../api/failures.ts'
import { limits } from '../../api/limits.ts'
import type { Log } from '../../market/log.ts'
import { type FileRoom, filesQuota } from '../../market/tasks/files.ts'
import { BufferedBytes } from './buffered-bytes.ts'

const { files, fileBytes } = limits.deliverable
/** What the files of one upload may take. An account may always have one under way. */
const UPLOAD_BYTES = files * fileBytes

export interface ArrivingFile {
  /** Counts what has come. Returns why no more of the upload is read; null if it is. */
  add(bytes: number): Refusal | null
  /** Once the files are stored or removed. */
  end(): void
}

export class ArrivingFiles {
  readonly #buffered: BufferedBytes
  readonly #log: Log

  constructor(bytes: number, log: Log) {
    const most = Math.max(bytes, UPLOAD_BYTES)
    this.#buffered = new BufferedBytes(most, Math.max(most / 8, UPLOAD_BYTES))
    this.#log = log
  }

  get total(): number {
    return this.#buffered.total
  }

  /** Begins to count the files of an upload. `giveUp` is called if it has to go to make room for other accounts. */
  begin(room: FileRoom, address: () => string, giveUp: (refusal: Refusal) => void): ArrivingFile {
    const all = this.#buffered
    const { userId } = room
    const buffered = all.count(userId, 0, () => {
      this.#log({ type: 'cut_off', reason: 'arriving_files', address: address() })
      giveUp(refuse('overloaded'))
    })
    return {
      add(bytes) {
        const own = all.bytesOf(userId)
        if (room.used + own + bytes > room.quota) return filesQuota(room.inWords, room.used + own)
        if (all.isOver(userId, bytes)) return refuse('unsent_bodies')
        if (!all.makeRoom(userId, bytes)) return refuse('overloaded')
        buffered.add(bytes)
        return null
      },
      end: () => buffered.end(),
    }
  }
}
