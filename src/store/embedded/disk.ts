/** The file operations on which durability depends, behind an interface so that tests can record them and make them fail. */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { makeFolders } from '../folders.ts'

export interface ReadableFile {
  /** The length of the file when it was opened. */
  readonly size: number
  /** Reads at `position`. Returns how many bytes were read: perhaps fewer than fit, and 0 at the end. */
  read(into: Uint8Array, position: number): number
  close(): Promise<void>
}

export interface DiskFile extends ReadableFile {
  /** Writes at `position`. Returns how many bytes were written: perhaps fewer than given. */
  write(bytes: Uint8Array, position: number): number
  /** Resolves once every byte written before the call is on the medium. */
  datasync(): Promise<void>
  truncate(length: number): Promise<void>
}

export interface Disk {
  /** Opens a file for reading. Returns undefined if there is none. */
  openToRead(path: string): Promise<ReadableFile | undefined>
  /** Opens a file for reading and writing, and creates it if it is missing. */
  open(path: string): Promise<DiskFile>
  rename(from: string, to: string): Promise<void>
  /** Removes the file if it exists. */
  remove(path: string): Promise<void>
  /** Makes the names in a folder durable, after a file was created, renamed or removed. */
  syncFolder(path: string): Promise<void>
}

/** What a backup does besides. */
export interface BackupDisk extends Disk {
  /** Makes the folder, and those above it. Its name is durable after `syncFolder` of the folder above. */
  makeFolder(path: string): Promise<void>
  /** Copies a file, over one that may be there. Its bytes are durable when this resolves. False if there is none at `from`. */
  copy(from: string, to: string): Promise<boolean>
}

const datasync = promisify(fdatasync)
const sync = promisify(fsync)
const hasCode = (error: unknown, ...codes: string[]) => codes.includes((error as NodeJS.ErrnoException).code ?? '')

export const realDisk: BackupDisk = {
  async openToRead(path) {
    const fd = openExisting(path, 'r')
    return fd === undefined ? undefined : readable(fd, path)
  },

  async open(path) {
    const fd = openExisting(path, 'r+') ?? openSync(path, 'wx+', 0o600)
    return {
      ...readable(fd, path),
      // Synchronous, because a copy into the page cache takes microseconds, less than a trip through the thread pool.
      write: (bytes, position) => named(path, () => writeSync(fd, bytes, 0, bytes.length, position)),
      datasync: () => datasync(fd),
      truncate: async length => {
        named(path, () => ftruncateSync(fd, length))
        await sync(fd)
      },
    }
  },

  rename,

  remove: path => rm(path, { force: true }),

  async syncFolder(path) {
    if (process.platform === 'win32') return // folders can't be opened there, and NTFS journals names itself
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  },

  makeFolder: async path => makeFolders(path, 0o700),

  async copy(from, to) {
    const source = openExisting(from, 'r')
    if (source === undefined) return false
    closeSync(source)
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    const copy = await open(to, 'r+')
    try {
      await copy.sync()
    } finally {
      await copy.close()
    }
    return true
  },
}

const readable = (fd: number, path: string): ReadableFile => ({
  size: sizeOf(fd),
  read: (into, position) => named(path, () => readSync(fd, into, 0, into.length, position)),
  close: async () => closeSync(fd),
})

/** The system names no file in an error of one that is open. */
function named<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw Object.assign(error as Error, { path })
  }
}

const sizeOf = (fd: number) => {
  try {
    return fstatSync(fd).size
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

const openExisting = (path: string, flags: 'r' | 'r+') => {
  try {
    return openSync(path, flags)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Writes all of `bytes`, by several writes if the system takes only a part. */
export const writeFully = (file: DiskFile, bytes: Uint8Array, position: number) => {
  for (let done = 0; done < bytes.length; ) {
    const written = file.write(done ? bytes.subarray(done) : bytes, position + done)
    if (written <= 0) throw new Error('the disk took no bytes')
    done += written
  }
}

/** Fills `into` from `position` on, by several reads if needed. Throws if the file is too short. */
export const readFully = (file: ReadableFile, into: Uint8Array, position: number) => {
  for (let done = 0; done < into.length; ) {
    const came = file.read(done ? into.subarray(done) : into, position + done)
    if (came <= 0) throw new Error(`the file ends at byte ${position + done}`)
    done += came
  }
}

const PIECE = 1024 * 1024

/** Yields the first `length` bytes of a file, a megabyte at a time. Each chunk is valid until the next one is requested. */
export function* piecesOf(file: ReadableFile, length = file.size): Generator<{ bytes: Buffer; position: number }> {
  const room = Buffer.allocUnsafe(Math.min(PIECE, length))
  for (let position = 0; position < length; position += PIECE) {
    const bytes = room.subarray(0, Math.min(PIECE, length - position))
    readFully(file, bytes, position)
    yield { bytes, position }
  }
}
