/**
 * Makes the n-th thing that is asked of the disk fail, as a full disk, a broken one or a process without descriptors
 * does. A file system that does so can't be had without being root; what is asked, and how Node tells of it, is real.
 */
import fs, { readdirSync, readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

export type FaultCode = 'ENOSPC' | 'EIO' | 'EMFILE' | 'ENOENT'

const errnos: Record<FaultCode, number> = { ENOSPC: -28, EIO: -5, EMFILE: -24, ENOENT: -2 }

export interface Tripped {
  /** What failed; null if there were fewer calls. */
  readonly call: string | null
  readonly calls: number
}

type Callback = (error: Error) => void
type Call = (...args: unknown[]) => unknown

const withCallback = ['open', 'read', 'write', 'writev', 'close', 'stat'] as const
const withPromise = ['open', 'rename', 'rm', 'stat', 'mkdir', 'mkdtemp', 'readdir', 'readFile', 'writeFile'] as const
/** What the engine's files are read and written with. */
const atOnce = ['openSync', 'readSync', 'writeSync', 'fstatSync', 'ftruncateSync', 'closeSync', 'readFileSync'] as const
const ofHandle = ['read', 'write', 'writev', 'sync', 'datasync', 'stat', 'truncate', 'close', 'readFile'] as const

/** Open descriptors of files in this folder. */
export function openFilesIn(folder: string): number {
  const links = readdirSync('/proc/self/fd').map(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return '' // of the reading itself
    }
  })
  return links.filter(link => link.startsWith(`${folder}/`)).length
}

async function prototypeOfHandles(): Promise<Record<string, Call>> {
  const handle = await fs.promises.open('/dev/null')
  await handle.close()
  return Object.getPrototypeOf(handle)
}

function isIn(folder: string, file: unknown): boolean {
  try {
    const path = typeof file === 'number' ? readlinkSync(`/proc/self/fd/${file}`) : String(file)
    return path.startsWith(`${folder}/`)
  } catch {
    return false
  }
}

/** For the words of a test that fails. */
export const lastTrip = { call: '' }

/**
 * Runs `work` while the `nth` call fails with `code`; then everything is as before. Of the calls that wait for the disk,
 * only those about files in `folder` count, as Node itself makes some; of all calls only those `among` these names.
 */
export async function withFault(
  nth: number,
  code: FaultCode,
  work: () => Promise<void>,
  folder?: string,
  among = /./,
): Promise<Tripped> {
  let calls = 0
  let tripped: string | null = null
  const trips = (name: string): Error | null => {
    if (!among.test(name) || ++calls !== nth) return null
    tripped = name
    lastTrip.call = `${name} (${nth}, ${code})`
    const error = new Error(`${code}: made by a test, ${name}`)
    return Object.assign(error, { code, errno: errnos[code], syscall: name })
  }
  const prototype = await prototypeOfHandles()
  const undo: (() => void)[] = []
  const replace = (on: Record<string, Call>, name: string, make: (real: Call) => Call) => {
    const real = on[name]!
    on[name] = make(real)
    undo.push(() => {
      on[name] = real
    })
  }
  for (const name of withCallback) {
    replace(fs as unknown as Record<string, Call>, name, real => (...args) => {
      const error = trips(name)
      if (!error) return real.apply(fs, args)
      const done = args.at(-1) as Callback
      // What was asked to be closed is closed all the same.
      if (name === 'close') return real.call(fs, args[0], () => done(error))
      return process.nextTick(done, error)
    })
  }
  for (const name of folder === undefined ? [] : atOnce) {
    replace(fs as unknown as Record<string, Call>, name, real => (...args) => {
      const error = isIn(folder!, args[0]) ? trips(name) : null
      if (error && name === 'closeSync') real.apply(fs, args)
      if (error) throw error
      return real.apply(fs, args)
    })
  }
  for (const name of withPromise) {
    replace(fs.promises as unknown as Record<string, Call>, name, real => async (...args) => {
      const error = trips(`promises.${name}`)
      if (error) throw error
      return real.apply(fs.promises, args)
    })
  }
  for (const name of ofHandle) {
    replace(prototype, name, real => {
      return async function (this: unknown, ...args: unknown[]) {
        const error = trips(`handle.${name}`)
        if (error && name === 'close') await real.apply(this, args)
        if (error) throw error
        return real.apply(this, args)
      }
    })
  }
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    for (const back of undo) back()
    syncBuiltinESMExports()
  }
  return { call: tripped, calls }
}
