/** The few file operations that durability rests on, behind an interface so that a test can record and fail them. */
import { closeSync, fdatasync, fsync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface DiskFile {
  /** Writes at `position` and answers how many bytes were taken: maybe fewer than given, without an error. */
  write(bytes: Uint8Array, position: number): number
  /** Resolves once every byte written before the call is on the medium. */
  datasync(): Promise<void>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

export interface Disk {
  /** The whole file; undefined if there is none. */
  read(path: string): Promise<Buffer | undefined>
  /** Opens for writing; creates the file if it is missing. */
  open(path: string): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  /** Removes the file if it is there. */
  remove(path: string): Promise<void>
  /** Makes the names in a folder durable: after a create, a rename or a removal. */
  syncFolder(path: string): Promise<void>
}

const datasync = promisify(fdatasync)
const sync = promisify(fsync)
const hasCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? '')

export const realDisk: Disk = {
  async read(path) {
    try {
      return await readFile(path)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  },

  async open(path) {
    const fd = openExisting(path) ?? openSync(path, 'wx+', 0o600)
    return {
      // A copy into the page cache takes microseconds; a trip through the thread pool takes longer than that.
      write: (bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
      datasync: () => datasync(fd),
      truncate: async length => {
        ftruncateSync(fd, length)
        await sync(fd)
      },
      close: async () => closeSync(fd),
    }
  },

  rename,

  remove: path => rm(path, { force: true }),

  async syncFolder(path) {
    if (process.platform === 'win32') return // a folder can't be opened there; NTFS journals its names itself
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  },
}

const openExisting = (path: string) => {
  try {
    return openSync(path, 'r+')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Writes all of `bytes`, however small the pieces that the system takes. */
export const writeFully = (file: DiskFile, bytes: Uint8Array, position: number) => {
  for (let done = 0; done < bytes.length; ) {
    const taken = file.write(done ? bytes.subarray(done) : bytes, position + done)
    if (taken <= 0) throw new Error('the disk took no bytes')
    done += taken
  }
}
