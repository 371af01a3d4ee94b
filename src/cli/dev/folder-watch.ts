/** Calls back when a file in one of some folders changes. Looks into all that lies in them, but not into what programs write. */
import { type FSWatcher, fstatSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../settings/config.ts'

const IGNORED = new Set(['node_modules', '.git', '.marketplace', 'dist'])
/** An agent writes its journal at each webhook; a database and what lies beside it are written too. */
const WRITTEN = /\.journal(?:\.new)?$|\.db(?:\.[\w.-]+(?:[/\\].*)?|-\w+)?$/
/** A change is often several writes. */
const QUIET_MS = 100
/** Each costs a handle of the system. */
const MOST_FOLDERS = 2_000

/** One watcher a folder: the recursive one of Node opens every file, those of node_modules too. Returns how to end it. */
export function watchFolders(folders: readonly string[], onChange: (path: string) => unknown): () => void {
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  const changed = (path: string) => {
    clearTimeout(timer)
    timer = setTimeout(onChange, QUIET_MS, path)
  }
  const forget = (folder: string) => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }
  const add = (folder: string) => {
    if (watchers.has(folder) || watchers.size === MOST_FOLDERS) return
    const watcher = watch(folder, (event, name) => {
      const path = join(folder, name ?? '')
      if (IGNORED.has(name ?? '') || WRITTEN.test(path) || isOwnOutput(path)) return
      if (event === 'rename') addBelow(folder)
      changed(path)
    })
    watchers.set(
      folder,
      watcher.on('error', () => forget(folder)),
    )
  }
  // A folder may be gone before it is looked into.
  const addBelow = (folder: string) => {
    try {
      add(folder)
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory() && !IGNORED.has(entry.name)) addBelow(join(folder, entry.name))
    } catch {
      forget(folder)
    }
  }
  for (const folder of folders) {
    if (!isFolder(folder)) throw new UsageError(`--watch takes a folder, and ${folder} is none.`)
    addBelow(folder)
  }
  if (watchers.size === MOST_FOLDERS)
    throw new UsageError(`--watch looks after ${MOST_FOLDERS} folders at most: name smaller ones.`)
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
  }
}

/** Whether it is the file that this process prints to. Otherwise each line about a change would be the next change. */
function isOwnOutput(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false, bigint: true })
  return [1, 2].some(fd => {
    // In big numbers, as in `ui.ts`: it may be a pipe.
    const { dev, ino } = fstatSync(fd, { bigint: true })
    return file?.ino === ino && file.dev === dev
  })
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
