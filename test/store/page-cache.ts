/**
 * What a system does with files between a program and the medium: pages in a cache that reach the medium at any time, in
 * any order, or not at all, until a sync; names that are durable after the sync of their folder.
 *
 * After a failed sync the pages count as clean, as on Linux: the next sync has nothing to write and says that all is
 * well, although the medium never got them. Reads find them in the cache until it gives them up.
 */

import { dirname } from 'node:path'
import { FileContent, PAGE, zeros } from './file-content.ts'

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
  | { type: 'folder sync starts'; sync: number; path: string }
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
  #cached = new FileContent()
  #medium = new FileContent()
  /** In the order in which they were made. */
  #dirty: Change[] = []
  /** Pages that count as clean although the medium does not have them. */
  #lost = new Set<number>()
  /** How many changes each sync that is under way covers. */
  readonly #covers = new Map<number, number>()

  static durable(content: FileContent) {
    const file = new CachedFile()
    file.#cached = content.copy()
    file.#medium = content.copy()
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
    if (this.#cached.size < end) this.#cached.resize(end)
    this.#cached.write(bytes, position)
    this.#change(position, bytes)
  }

  truncate(length: number) {
    const before = this.#cached.size
    this.#cached.resize(length)
    this.#change(length, zeros(Math.max(0, before - length)))
  }

  #change(position: number, bytes: Buffer) {
    const { size } = this.#cached
    this.#dirty.push({ position, bytes, size })
    // A page is written as a whole, so a change brings along what the medium does not have of it.
    for (const page of [...this.#lost].filter(page => touches(page, position, bytes.length))) {
      this.#lost.delete(page)
      const from = page * PAGE
      this.#dirty.push({ position: from, bytes: this.#cached.bytes(from, from + PAGE), size })
    }
  }

  syncStarts(sync: number) {
    this.#covers.set(sync, this.#dirty.length)
  }

  sync(sync: number) {
    const covered = this.#covered(sync)
    const size = covered.at(-1)?.size ?? (this.#dirty.length === 0 ? this.#cached.size : this.#medium.size)
    this.#medium.resize(size)
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
    return this.#cached.bytes(from, to).equals(this.#medium.bytes(from, to))
  }

  forget(random: () => number) {
    for (const page of this.#lost) {
      if (random() < 0.5) continue
      const from = page * PAGE
      const onMedium = Buffer.alloc(PAGE)
      this.#medium.read(onMedium, from)
      this.#cached.write(onMedium, from)
      this.#lost.delete(page)
    }
  }

  /** What a stop of the machine leaves. */
  left(random: () => number) {
    return reached(this.#medium, this.#dirty, random)
  }

  copy() {
    const file = new CachedFile()
    file.#cached = this.#cached.copy()
    file.#medium = this.#medium.copy()
    file.#dirty = [...this.#dirty]
    file.#lost = new Set(this.#lost)
    return file
  }
}

const touches = (page: number, position: number, length: number) =>
  position < (page + 1) * PAGE && position + length > page * PAGE

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
const reached = (medium: FileContent, changes: readonly Change[], random: () => number): FileContent => {
  const result = medium.copy()
  if (changes.length === 0) return result
  const sizes = [medium.size, ...changes.map(({ size }) => size)]
  const way = random()
  const size = way < 0.15 ? sizes[0]! : way < 0.6 ? sizes.at(-1)! : sizes[Math.floor(random() * sizes.length)]!
  result.resize(size)
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
const put = (into: FileContent, { position, bytes }: Change, at: number, length: number) => {
  const from = Math.max(at, position)
  const to = Math.min(at + length, position + bytes.length)
  if (from < to) into.write(bytes.subarray(from - position, to - position), from)
}

type NameChange = Extract<Operation, { type: 'name' | 'remove' }>

/** The name of a folder ends in a slash. One that is not durable takes what is in it along. */
const folderName = (path: string) => `${dirname(path)}/`

/** A machine whose first folder is durable. */
export class Machine {
  #files = new Map<number, CachedFile>()
  #names = new Map<string, number>()
  #durableNames = new Map<string, number>()
  #nameChanges: NameChange[] = []
  readonly #covers = new Map<number, readonly NameChange[]>()
  /** What was told of, or shown. */
  told = 0

  /** One that has been switched on with these files, all of them durable. */
  static withFiles(files: ReadonlyMap<string, Buffer>) {
    return Machine.#with(new Map([...files].map(([path, bytes]) => [path, FileContent.of(bytes)])))
  }

  static #with(files: ReadonlyMap<string, FileContent>, told = 0) {
    const machine = new Machine()
    let inode = 0
    for (const [path, content] of files) {
      machine.#names.set(path, --inode)
      machine.#durableNames.set(path, inode)
      machine.#files.set(inode, CachedFile.durable(content))
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
        this.#covers.set(operation.sync, this.#changesIn(operation.path))
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
    return inode === undefined ? undefined : this.cached(inode).bytes()
  }

  cached(inode: number): FileContent {
    return this.#file(inode).cached
  }

  /** The files as a program finds them. */
  files() {
    return new Map([...this.#names].map(([path, inode]) => [path, this.#file(inode).cached.bytes()]))
  }

  /** The machine after it has stopped now and was switched on again. */
  restarted(random: () => number) {
    return Machine.#with(this.#left(random), this.told)
  }

  #left(random: () => number) {
    const names = new Map(this.#durableNames)
    const way = random()
    for (const change of this.#nameChanges) if (way < 0.2 || (way < 0.8 && random() < 0.5)) rename(names, change)
    const isLost = (path: string) => this.#names.has(folderName(path)) && !names.has(folderName(path))
    const left = [...names].filter(([path]) => !isLost(path))
    return new Map(left.map(([path, inode]) => [path, this.#file(inode).left(random)]))
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

  #changesIn(folder: string) {
    return this.#nameChanges.filter(({ path }) => dirname(path) === folder)
  }

  #syncNames(sync: number) {
    const covered = new Set(this.#covers.get(sync)!)
    this.#covers.delete(sync)
    // What another sync has made durable meanwhile is none of these any more.
    for (const change of this.#nameChanges) if (covered.has(change)) rename(this.#durableNames, change)
    this.#nameChanges = this.#nameChanges.filter(change => !covered.has(change))
  }
}

const rename = (names: Map<string, number>, change: NameChange) => {
  if (change.type === 'remove') names.delete(change.path)
  else {
    if (change.gone) names.delete(change.gone)
    names.set(change.path, change.inode)
  }
}
