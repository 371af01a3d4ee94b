/**
 * A lock by the system. It ends with its process, however that ends, and it lasts while the process stands still. Node has no
 * call for it, so the command `flock` takes it, which every usual Linux has. The descriptor that it inherits is the same
 * open file as ours, so we keep the lock when the command has ended.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** Locks the open file until it is closed. Returns false if the system has no such lock, or if another process has it. */
export const lockFor = async (fd: number): Promise<boolean> => (await flock('-x', fd)) === 0

/** Returns true if any process, in any container, has the file locked; undefined where that can't be found out. */
export const isLocked = async (path: string): Promise<boolean | undefined> => {
  const fd = openSync(path, 'r')
  try {
    const code = await flock('-s', fd)
    return code === 0 ? false : code === 1 ? true : undefined
  } finally {
    closeSync(fd)
  }
}

const flock = (kind: '-x' | '-s', fd: number) =>
  new Promise<number | null>(resolve => {
    if (process.platform !== 'linux') return resolve(null)
    let child: ChildProcess
    try {
      child = spawn('flock', ['-n', kind, '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] })
    } catch {
      return resolve(null)
    }
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })

// ext, xfs, btrfs, f2fs, zfs, tmpfs, overlay: by the numbers in Linux' magic.h.
const LOCAL = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630])

/** Returns true if only this kernel can use the file system of `path`, so that no other machine can lock files there. */
export const isLocal = async (path: string): Promise<boolean> =>
  process.platform === 'linux' &&
  (await statfs(path).then(
    ({ type }) => LOCAL.has(type >>> 0),
    () => false,
  ))
