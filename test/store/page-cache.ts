/**
 * What a system does with files between a program and the medium: pages in a cache that reach the medium at any time, in
 * any order, or not at all, until a sync; names that are durable after the sync of their folder.
 *
 * After a failed sync the pages count as clean, as on Linux: the next sync has nothing to write and says that all is
 * well, although the medium never got them. Reads find them in the cache until it gives them up.
 */

const PAGE = 4096
const SECTOR = 512

/** A repeatable source of chance. */
export const chance = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}

export type Operation =
  | { type: 'write'; inode: number; position: number; bytes: Buffer }
  | { type: 'truncate'; inode: number; length: number }
  | { type: 'sync starts'; inode: number; sync: number }
  | { type: 'sync'; inode: number; sync: number }
  /** Which pages got through all the same follows from the seed. */
  | { type: 'sync fails'; inode: number; sync: number; seed: number }
  /** The cache gives up the clean pages that the seed picks. */
  | { type: 'forget'; seed: number }
  | { type: 'name'; path: string; inode: number; gone?: string }
  | { type: 'remove'; path: string }
  | { type: 'folder sync starts'; sync: number }
  | { type: 'folder sync'; sync: number }
  /** All transactions before this number were told of, or shown to a reader. */
  | { type: 'told'; count: number }

interface Change {
  position: number
  bytes: Buffer
  /** Of the file, after it. */
  size: number
}

/** One file: what reads find, what the medium has, and what is on its way there. */
class CachedFile {
  #cached: Buffer = Buffer.alloc(0)
  #medium: Buffer = Buffer.alloc(0)
  /** In the order in which they were made. */
  #dirty: Change[] = []
  /** Pages that count as clean although the medium does not have them. */
  #lost = new Set<number>()
  /** How many changes each sync that is under way covers. */
  readonly #covers = new Map<number, number>()

  static durable(bytes: Buffer) {
    const file = new CachedFile()
    file.#cached = Buffer.from(bytes)
    file.#medium = Buffer.from(bytes)
    return file
  }

  get cached() {
    return this.#cached
  }

  get hasLost() {
    return this.#lost.size > 0
  }

  write(position: number, bytes: Buffer) {
    const end = position + bytes.length
    if (this.#cached.length < end) this.#cached = resized(this.#cached, end)
    this.#cached.set(bytes, position)
    this.#change(position, bytes)
  }

  truncate(length: number) {
    const before = this.#cached.length
    this.#cached = resized(this.#cached, length)
    this.#change(length, Buffer.alloc(Math.max(0, before - length)))
  }

  #change(position: number, bytes: Buffer) {
    const size = this.#cached.length
    this.#dirty.push({ position, bytes, size })
    // A page is written as a whole, so a change brings along what the medium does not have of it.
    for (const page of [...this.#lost].filter(page => touches(page, position, bytes.length))) {
      this.#lost.delete(page)
      const from = page * PAGE
      this.#dirty.push({ position: from, bytes: Buffer.from(this.#cached.subarray(from, from + PAGE)), size })
    }
  }

  syncStarts(sync: number) {
    this.#covers.set(sync, this.#dirty.length)
  }

  sync(sync: number) {
    const covered = this.#covered(sync)
    const size = covered.at(-1)?.size ?? (this.#dirty.length === 0 ? this.#cached.length : this.#medium.length)
    this.#medium = resized(this.#medium, size)
    for (const change of covered) put(this.#medium, change, 0, size)
  }

  syncFails(sync: number, random: () => number) {
    const covered = this.#covered(sync)
    this.#medium = reached(this.#medium, covered, random)
    for (const page of pagesOf(covered).keys()) if (!this.#isOnMedium(page)) this.#lost.add(page)
  }

  #covered(sync: number) {
    const count = this.#covers.get(sync)!
    this.#covers.delete(sync)
    for (const [other, covers] of this.#covers) this.#covers.set(other, Math.max(0, covers - count))
    return this.#dirty.splice(0, count)
  }

  #isOnMedium(page: number) {
    const [from, to] = [page * PAGE, (page + 1) * PAGE]
    return this.#cached.subarray(from, to).equals(this.#medium.subarray(from, to))
  }

  forget(random: () => number) {
    for (const page of this.#lost) {
      if (random() < 0.5) continue
      const from = page * PAGE
      const kept = this.#cached.subarray(from, from + PAGE)
      kept.fill(0)
      kept.set(this.#medium.subarray(from, from + kept.length))
      this.#lost.delete(page)
    }
  }

  /** What a stop of the machine leaves. */
  left(random: () => number) {
    return reached(this.#medium, this.#dirty, random)
  }

  copy() {
    const file = new CachedFile()
    file.#cached = Buffer.from(this.#cached)
    file.#medium = Buffer.from(this.#medium)
    file.#dirty = [...this.#dirty]
    file.#lost = new Set(this.#lost)
    return file
  }
}

const touches = (page: number, position: number, length: number) =>
  position < (page + 1) * PAGE && position + length > page * PAGE

const resized = (bytes: Buffer, length: number): Buffer => {
  const result = Buffer.alloc(length)
  bytes.copy(result)
  return result
}

const pagesOf = (changes: readonly Change[]) => {
  const pages = new Map<number, Change[]>()
  for (const change of changes) {
    const last = Math.floor((change.position + change.bytes.length - 1) / PAGE)
    for (let page = Math.floor(change.position / PAGE); page <= last; page++) {
      const known = pages.get(page)
      if (known) known.push(change)
      else pages.set(page, [change])
    }
  }
  return pages
}

/** The medium when an arbitrary part of the changes has got there: each page for itself, the last of its changes maybe by half. */
const reached = (medium: Buffer, changes: readonly Change[], random: () => number): Buffer => {
  if (changes.length === 0) return medium
  const sizes = [medium.length, ...changes.map(({ size }) => size)]
  const way = random()
  const size = way < 0.15 ? sizes[0]! : way < 0.6 ? sizes.at(-1)! : sizes[Math.floor(random() * sizes.length)]!
  const result = resized(medium, size)
  for (const [page, ofPage] of pagesOf(changes)) {
    const done = way < 0.15 ? 0 : way < 0.3 ? ofPage.length : Math.floor(random() * (ofPage.length + 1))
    for (const change of ofPage.slice(0, done)) put(result, change, page * PAGE, PAGE)
    const half = ofPage[done]
    if (!half || way < 0.15 || random() < 0.5) continue
    for (let from = page * PAGE; from < (page + 1) * PAGE; from += SECTOR) {
      if (random() < 0.5) put(result, half, from, SECTOR)
    }
  }
  return result
}

/** The part of a change that falls into `length` bytes at `at`. */
const put = (into: Buffer, { position, bytes }: Change, at: number, length: number) => {
  const from = Math.max(at, position)
  const to = Math.min(at + length, position + bytes.length, into.length)
  if (from < to) into.set(bytes.subarray(from - position, to - position), from)
}

type NameChange = Extract<Operation, { type: 'name' | 'remove' }>

/** A machine with one folder. */
export class Machine {
  #files = new Map<number, CachedFile>()
  #names = new Map<string, number>()
  #durableNames = new Map<string, number>()
  #nameChanges: NameChange[] = []
  readonly #covers = new Map<number, number>()
  /** What was told of, or shown. */
  told = 0

  /** One that has been switched on with these files, all of them durable. */
  static withFiles(files: ReadonlyMap<string, Buffer>, told = 0) {
    const machine = new Machine()
    let inode = 0
    for (const [path, bytes] of files) {
      machine.#names.set(path, --inode)
      machine.#durableNames.set(path, inode)
      machine.#files.set(inode, CachedFile.durable(bytes))
    }
    machine.told = told
    return machine
  }

  apply(operation: Operation) {
    switch (operation.type) {
      case 'write':
        return this.#file(operation.inode).write(operation.position, operation.bytes)
      case 'truncate':
        return this.#file(operation.inode).truncate(operation.length)
      case 'sync starts':
        return this.#file(operation.inode).syncStarts(operation.sync)
      case 'sync':
        return this.#file(operation.inode).sync(operation.sync)
      case 'sync fails':
        return this.#file(operation.inode).syncFails(operation.sync, chance(operation.seed))
      case 'forget':
        return this.#forget(chance(operation.seed))
      case 'told':
        this.told = Math.max(this.told, operation.count)
        return
      case 'folder sync starts':
        this.#covers.set(operation.sync, this.#nameChanges.length)
        return
      case 'folder sync':
        return this.#syncNames(operation.sync)
      default:
        rename(this.#names, operation)
        this.#nameChanges.push(operation)
    }
  }

  inodeOf(path: string) {
    return this.#names.get(path)
  }

  read(path: string): Buffer | undefined {
    const inode = this.#names.get(path)
    return inode === undefined ? undefined : this.cached(inode)
  }

  cached(inode: number): Buffer {
    return this.#file(inode).cached
  }

  /** The files as a program finds them. */
  files() {
    return new Map([...this.#names].map(([path, inode]) => [path, this.#file(inode).cached]))
  }

  /** The machine after it has stopped now and was switched on again. */
  restarted(random: () => number) {
    return Machine.withFiles(this.#left(random), this.told)
  }

  #left(random: () => number) {
    const names = new Map(this.#durableNames)
    const way = random()
    for (const change of this.#nameChanges) if (way < 0.2 || (way < 0.8 && random() < 0.5)) rename(names, change)
    return new Map([...names].map(([path, inode]) => [path, Buffer.from(this.#file(inode).left(random))]))
  }

  copy() {
    const machine = new Machine()
    for (const [inode, file] of this.#files) machine.#files.set(inode, file.copy())
    machine.#names = new Map(this.#names)
    machine.#durableNames = new Map(this.#durableNames)
    machine.#nameChanges = [...this.#nameChanges]
    machine.told = this.told
    return machine
  }

  #file(inode: number) {
    const found = this.#files.get(inode) ?? new CachedFile()
    this.#files.set(inode, found)
    return found
  }

  #forget(random: () => number) {
    for (const file of this.#files.values()) if (file.hasLost) file.forget(random)
  }

  #syncNames(sync: number) {
    const count = this.#covers.get(sync)!
    this.#covers.delete(sync)
    for (const [other, covers] of this.#covers) this.#covers.set(other, Math.max(0, covers - count))
    for (const change of this.#nameChanges.splice(0, count)) rename(this.#durableNames, change)
  }
}

const rename = (names: Map<string, number>, change: NameChange) => {
  if (change.type === 'remove') names.delete(change.path)
  else {
    if (change.gone) names.delete(change.gone)
    names.set(change.path, change.inode)
  }
}
