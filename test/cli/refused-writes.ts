/**
 * Makes the n-th change that is asked of a folder fail. A disk that is full, or read-only, or another user's can't be had by
 * everybody who runs tests: root may write everywhere, and only root can mount.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Call = (...args: unknown[]) => unknown

const changes = ['mkdirSync', 'chmodSync', 'writeFileSync', 'renameSync'] as const
const functions = fs as unknown as Record<string, Call>

/** Runs `work`. Returns the name of the call that was refused; null if there were fewer. */
export function withRefusedWrite(folder: string, nth: number, code: string, work: () => void): string | null {
  let calls = 0
  let refused: string | null = null
  const real = new Map(changes.map(name => [name, functions[name]!]))
  for (const [name, call] of real) {
    functions[name] = (path, ...more) => {
      if (!String(path).startsWith(`${folder}/`) || ++calls !== nth) return call(path, ...more)
      refused = name
      // A full disk has room for a name.
      if (name === 'writeFileSync' && code === 'ENOSPC') call(path, '', ...more.slice(1))
      throw Object.assign(new Error(`${code}: made by a test`), { code, syscall: name, path })
    }
  }
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    for (const [name, call] of real) functions[name] = call
    syncBuiltinESMExports()
  }
  return refused
}
