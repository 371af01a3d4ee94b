/** A file in memory that counts its reads, and how many descriptors this process has open. */
import { readdirSync, readlinkSync } from 'node:fs'
import type { DiskFile } from '../../src/store/embedded/disk.ts'

export interface MemoryFile extends DiskFile {
  readonly bytes: Buffer
  readonly reads: { at: number; length: number }[]
  closed: number
}

/** `most`: it gives and takes no more than so many bytes at once. */
export function memoryFile(bytes: Buffer, most = Number.POSITIVE_INFINITY): MemoryFile {
  const reads: { at: number; length: number }[] = []
  const file = {
    bytes,
    reads,
    closed: 0,
    size: bytes.length,
    read(into: Uint8Array, position: number) {
      reads.push({ at: position, length: into.length })
      return bytes.subarray(position, position + Math.min(into.length, most)).copy(into)
    },
    write(piece: Uint8Array, position: number) {
      const taken = Math.min(piece.length, most, bytes.length - position)
      bytes.set(piece.subarray(0, taken), position)
      return taken
    },
    datasync: async () => {},
    truncate: async () => {},
    async close() {
      file.closed++
    },
  }
  return file
}

/** Paths of the files of `folder` that this process has open, in order. Linux alone tells. */
export const openUnder = (folder: string): string[] =>
  readdirSync('/proc/self/fd')
    .flatMap(fd => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)]
      } catch {
        return [] // the one that listed them
      }
    })
    .filter(path => path.startsWith(folder))
    .sort()
