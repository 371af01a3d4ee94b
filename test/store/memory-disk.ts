/** A disk in memory that remembers every operation, so that the state after a crash at any of them can be made up. */
import type { Disk, DiskFile } from '../../src/store/disk.ts'

interface Inode {
  id: number
  bytes: Buffer
}

export type Operation =
  | { type: 'write'; inode: number; position: number; bytes: Buffer }
  | { type: 'truncate'; inode: number; length: number }
  | { type: 'sync'; inode: number }
  | { type: 'name'; path: string; inode: number; gone?: string }
  | { type: 'remove'; path: string }
  | { type: 'syncFolder' }
  | { type: 'ack'; number: number }

/** Fails the operation with this number (from 1), and all after it if `sticky`. */
export interface Fault {
  at: number
  code: 'EIO' | 'ENOSPC' | 'short'
  sticky: boolean
}

export class MemoryDisk implements Disk {
  readonly log: Operation[] = []
  readonly names = new Map<string, Inode>()
  fault: Fault | null = null
  count = 0
  /** How long the log was when the disk was made: a crash comes later. */
  readonly begin: number
  #inodes = 0

  constructor(files: ReadonlyMap<string, Buffer> = new Map()) {
    for (const [path, bytes] of files) {
      const inode = { id: ++this.#inodes, bytes: Buffer.from(bytes) }
      this.names.set(path, inode)
      this.log.push({ type: 'name', path, inode: inode.id })
      this.log.push(
        // A copy: what is written into the file later was not in it at the beginning.
        { type: 'write', inode: inode.id, position: 0, bytes: Buffer.from(bytes) },
        { type: 'sync', inode: inode.id },
      )
    }
    this.log.push({ type: 'syncFolder' })
    this.begin = this.log.length
  }

  files() {
    return new Map([...this.names].map(([path, { bytes }]) => [path, bytes]))
  }

  async read(path: string) {
    const inode = this.names.get(path)
    return inode && Buffer.from(inode.bytes)
  }

  async open(path: string): Promise<DiskFile> {
    let inode = this.names.get(path)
    if (!inode) {
      this.#step()
      inode = { id: ++this.#inodes, bytes: Buffer.alloc(0) }
      this.names.set(path, inode)
      this.log.push({ type: 'name', path, inode: inode.id })
    }
    return this.#handle(inode)
  }

  async rename(from: string, to: string) {
    this.#step()
    const inode = this.names.get(from)!
    this.names.delete(from)
    this.names.set(to, inode)
    this.log.push({ type: 'name', path: to, inode: inode.id, gone: from })
  }

  async remove(path: string) {
    if (!this.names.delete(path)) return
    this.log.push({ type: 'remove', path })
  }

  async syncFolder() {
    this.#step()
    this.log.push({ type: 'syncFolder' })
  }

  #handle(inode: Inode): DiskFile {
    return {
      write: (bytes, position) => {
        const taken = this.#step() === 'short' ? bytes.length >> 1 : bytes.length
        inode.bytes = writeAt(inode.bytes, position, bytes.subarray(0, taken))
        this.log.push({ type: 'write', inode: inode.id, position, bytes: Buffer.from(bytes.subarray(0, taken)) })
        return taken
      },
      datasync: async () => {
        this.#step()
        await new Promise(setImmediate)
        this.log.push({ type: 'sync', inode: inode.id })
      },
      truncate: async length => {
        this.#step()
        inode.bytes = truncated(inode.bytes, length)
        this.log.push({ type: 'truncate', inode: inode.id, length }, { type: 'sync', inode: inode.id })
      },
      close: async () => {},
    }
  }

  #step() {
    this.count++
    const { fault } = this
    if (!fault || this.count < fault.at || (this.count > fault.at && !fault.sticky)) return null
    if (fault.code === 'short') return 'short'
    throw Object.assign(new Error(`${fault.code}: injected`), { code: fault.code })
  }
}

const truncated = (bytes: Buffer, length: number) =>
  length <= bytes.length
    ? Buffer.from(bytes.subarray(0, length))
    : Buffer.concat([bytes, Buffer.alloc(length - bytes.length)])

const writeAt = (old: Buffer, position: number, bytes: Uint8Array) => {
  const grown = old.length < position + bytes.length ? truncated(old, position + bytes.length) : old
  grown.set(bytes, position)
  return grown
}

const SECTOR = 512

/** What may be found after the machine stopped right after `end` operations of the log. */
export const crashImage = (log: readonly Operation[], end: number, random: () => number) => {
  const done = log.slice(0, end)
  const inodes = new Map<number, Buffer>()
  const synced = lastSyncs(done)
  done.forEach((operation, at) => {
    if (operation.type === 'write') {
      const old = inodes.get(operation.inode) ?? Buffer.alloc(0)
      const durable = at < (synced.get(operation.inode) ?? -1)
      inodes.set(
        operation.inode,
        durable ? writeAt(old, operation.position, operation.bytes) : torn(old, operation, random),
      )
    } else if (operation.type === 'truncate') {
      if (at < (synced.get(operation.inode) ?? -1) || random() < 0.5) {
        inodes.set(operation.inode, truncated(inodes.get(operation.inode) ?? Buffer.alloc(0), operation.length))
      }
    }
  })
  const files = new Map<string, Buffer>()
  for (const [path, inode] of namesAfter(done, random)) files.set(path, inodes.get(inode) ?? Buffer.alloc(0))
  return files
}

const lastSyncs = (done: readonly Operation[]) => {
  const last = new Map<number, number>()
  done.forEach((operation, at) => {
    if (operation.type === 'sync') last.set(operation.inode, at)
  })
  return last
}

/** A write that was not synced: all, nothing, its beginning, or any of its sectors; some come back as zeros. */
const torn = (old: Buffer, { position, bytes }: { position: number; bytes: Buffer }, random: () => number) => {
  const way = random()
  if (way < 0.25) return old
  if (way < 0.5) return writeAt(old, position, bytes)
  const cut = position + Math.floor(random() * bytes.length)
  const keep = random()
  let result: Buffer = Buffer.from(old)
  for (let from = position; from < position + bytes.length; ) {
    const to = Math.min(position + bytes.length, (Math.floor(from / SECTOR) + 1) * SECTOR)
    const part = bytes.subarray(from - position, to - position)
    const whole = from % SECTOR === 0 && part.length === SECTOR
    if (way < 0.7 ? to <= cut : random() < keep) result = writeAt(result, from, part)
    else if (whole && random() < 0.1) result = writeAt(result, from, Buffer.alloc(SECTOR))
    from = to
  }
  return result
}

/** Names that no sync of the folder covers are there or not, each for itself. */
const namesAfter = (done: readonly Operation[], random: () => number) => {
  const covered = done.findLastIndex(({ type }) => type === 'syncFolder')
  const names = new Map<string, number>()
  done.forEach((operation, at) => {
    if (operation.type !== 'name' && operation.type !== 'remove') return
    if (at > covered && random() < 0.5) return
    if (operation.type === 'remove') names.delete(operation.path)
    else {
      names.set(operation.path, operation.inode)
      if (operation.gone) names.delete(operation.gone)
    }
  })
  return names
}
