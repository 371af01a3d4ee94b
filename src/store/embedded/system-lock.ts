/**
 * A lock that the system keeps: it ends with the process that has it, however that ends, and it holds while the process
 * stands still. Node has no call for one, so the command `flock`, which every usual Linux has, asks for it: a descriptor
 * that it inherits is the same open file as ours, so the lock stays ours when the command has ended.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

/** Locks the open file until it is closed. False where the system has no such lock, or somebody else has this one. */
export const lockFor = async (fd: number): Promise<boolean> => (await flock('-x', fd)) === 0

/** True if any process has the file locked, of whatever container; undefined where that can't be asked. */
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

/** True where only one running kernel can have the file system of `path`: nothing on it is locked from elsewhere. */
export const isLocal = async (path: string): Promise<boolean> =>
  process.platform === 'linux' &&
  (await statfs(path).then(
    ({ type }) => LOCAL.has(type >>> 0),
    () => false,
  ))
