/** A disk in memory over a page cache: it remembers every operation, so that what any interruption leaves can be made up. */
import {
  type BackupDisk,
  type DiskFile,
  piecesOf,
  type ReadableFile,
  writeFully,
} from '../../src/store/embedded/disk.ts'
import { isZeros, zeros } from './file-content.ts'
import { Machine, type Operation } from './page-cache.ts'

/** Fails the call with this number (from 1), and all after it if `sticky`, where such a call can fail so. */
export interface Fault {
  at: number
  code: 'EIO' | 'ENOSPC' | 'EMFILE' | 'short'
  sticky: boolean
}

type Call =
  | 'read'
  | 'open'
  | 'create'
  | 'write'
  | 'datasync'
  | 'truncate'
  | 'close'
  | 'rename'
  | 'remove'
  | 'syncFolder'

const canFail: Readonly<Record<Fault['code'], readonly Call[]>> = {
  EIO: ['read', 'open', 'create', 'write', 'datasync', 'truncate', 'close', 'rename', 'remove', 'syncFolder'],
  ENOSPC: ['create', 'write', 'datasync', 'rename'],
  EMFILE: ['read', 'open', 'create', 'syncFolder'],
  short: ['write'],
}

// Never used twice, also not by another disk that goes on from the same machine.
let inodes = 0
let syncs = 0

export class MemoryDisk implements BackupDisk {
  readonly log: Operation[] = []
  fault: Fault | null = null
  count = 0
  /** Waits before every call that can be overtaken by others. */
  pace: () => Promise<void> = () => new Promise(setImmediate)
  readonly #machine: Machine
  readonly #before: Machine

  /** A machine that has just been switched on, or one that goes on after a process on it was killed. */
  constructor(machine = new Machine()) {
    this.#before = machine.copy()
    this.#machine = machine.copy()
  }

  /** The machine as it was when so many operations of the log were done. */
  at(operations: number) {
    const machine = this.#before.copy()
    for (const operation of this.log.slice(0, operations)) machine.apply(operation)
    return machine
  }

  /** The machine as it is now. */
  now() {
    return this.#machine.copy()
  }

  /** The machine before the first operation and after each. */
  *moments() {
    const machine = this.#before.copy()
    yield machine
    for (const operation of this.log) {
      machine.apply(operation)
      yield machine
    }
  }

  files() {
    return this.#machine.files()
  }

  told(count: number) {
    this.#do({ type: 'told', count })
  }

  /** As memory gets short: the cache gives up what it may. */
  forget(seed: number) {
    this.#do({ type: 'forget', seed })
  }

  async openToRead(path: string): Promise<ReadableFile | undefined> {
    await this.pace()
    this.#step('read')
    const inode = this.#machine.inodeOf(path)
    return inode === undefined ? undefined : this.#readable(inode)
  }

  async open(path: string): Promise<DiskFile> {
    await this.pace()
    let inode = this.#machine.inodeOf(path)
    this.#step(inode === undefined ? 'create' : 'open')
    if (inode === undefined) {
      inode = ++inodes
      this.#do({ type: 'name', path, inode })
    }
    return this.#handle(inode)
  }

  async rename(from: string, to: string) {
    await this.pace()
    this.#step('rename')
    const inode = this.#machine.inodeOf(from)
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${from}`), { code: 'ENOENT' })
    this.#do({ type: 'name', path: to, inode, gone: from })
  }

  async remove(path: string) {
    await this.pace()
    this.#step('remove')
    if (this.#machine.inodeOf(path) !== undefined) this.#do({ type: 'remove', path })
  }

  async syncFolder(path: string) {
    const sync = ++syncs
    this.#do({ type: 'folder sync starts', sync, path })
    await this.pace()
    this.#step('syncFolder') // a failed one leaves the names to the next
    this.#do({ type: 'folder sync', sync })
  }

  async makeFolder(path: string) {
    await this.pace()
    this.#step('create')
    if (this.#machine.inodeOf(`${path}/`) === undefined) this.#do({ type: 'name', path: `${path}/`, inode: ++inodes })
  }

  async copy(from: string, to: string) {
    const source = await this.openToRead(from)
    if (!source) return false
    const copy = await this.open(to)
    for (const { bytes, position } of piecesOf(source)) writeFully(copy, bytes, position)
    await copy.datasync()
    await copy.close()
    await source.close()
    return true
  }

  #readable(inode: number): ReadableFile {
    return {
      size: this.#machine.cached(inode).size,
      read: (into, position) => {
        this.#step('read')
        return this.#machine.cached(inode).read(into, position)
      },
      close: async () => {
        this.#step('close')
      },
    }
  }

  #handle(inode: number): DiskFile {
    return {
      ...this.#readable(inode),
      write: (bytes, position) => {
        const taken = this.#step('write') === 'short' ? bytes.length >> 1 : bytes.length
        const part = bytes.subarray(0, taken)
        this.#do({
          type: 'write',
          inode,
          position,
          bytes: isZeros(part) ? zeros(taken) : Buffer.from(part),
        })
        return taken
      },
      datasync: () => this.#sync(inode, 'datasync'),
      truncate: length => {
        this.#do({ type: 'truncate', inode, length })
        return this.#sync(inode, 'truncate')
      },
    }
  }

  async #sync(inode: number, call: 'datasync' | 'truncate') {
    const sync = ++syncs
    this.#do({ type: 'sync starts', inode, sync })
    await this.pace()
    try {
      this.#step(call)
    } catch (error) {
      this.#do({ type: 'sync fails', inode, sync, seed: this.count })
      throw error
    }
    this.#do({ type: 'sync', inode, sync })
  }

  #do(operation: Operation) {
    this.log.push(operation)
    this.#machine.apply(operation)
  }

  #step(call: Call) {
    this.count++
    const { fault } = this
    if (!fault || this.count < fault.at || (this.count > fault.at && !fault.sticky)) return null
    if (!canFail[fault.code].includes(call)) return null
    if (fault.code === 'short') return 'short'
    // A disk takes what there is room for before it says that there is none.
    if (fault.code === 'ENOSPC' && call === 'write' && fault.sticky && this.count === fault.at) return 'short'
    throw Object.assign(new Error(`${fault.code}: injected`), { code: fault.code })
  }
}
