/** Reads the hosts file of the machine, which takes precedence over DNS. */
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { Resolved } from './addresses.ts'

export const SYSTEM_HOSTS_FILE =
  process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'

/** Files with a hundred thousand blocked names exist. A larger file is a mistake and is ignored. */
const MOST_BYTES = 8 * 1024 * 1024
/** How soon a change of the file is noticed. */
const LOOK_AGAIN_MS = 2_000

type Names = ReadonlyMap<string, readonly Resolved[]>

/** Returns a function that finds the addresses of a name in lower case; undefined if the file has none or can't be read. */
export function hostsFile(path: string): (hostname: string) => Promise<readonly Resolved[] | undefined> {
  let names: Names = new Map()
  let version = ''
  let looked = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  // If no file descriptor is free, what was read before stays valid.
  const look = async () => {
    const { mtimeMs, size, ino } = await stat(path)
    const found = `${mtimeMs} ${size} ${ino}`
    if (found === version || size > MOST_BYTES) return
    names = parseHosts(await readFile(path, 'utf8'))
    version = found
  }

  return async hostname => {
    if (performance.now() - looked > LOOK_AGAIN_MS) {
      looked = performance.now()
      looking = look().catch(() => {})
    }
    await looking
    return names.get(hostname)
  }
}

/**
 * Each line has an address and its names. Later lines add to earlier ones. Lines without an address are ignored.
 * @internal Tested by itself.
 */
export function parseHosts(text: string): Names {
  const names = new Map<string, Resolved[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const alias of aliases) {
      const name = alias.toLowerCase()
      const known = names.get(name)
      if (known) known.push({ address, family })
      else names.set(name, [{ address, family }])
    }
  }
  return names
}
