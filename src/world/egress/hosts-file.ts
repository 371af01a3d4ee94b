/** The hosts file of the machine: what it says of a name comes before what name servers say. */
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { Resolved } from './addresses.ts'

export const SYSTEM_HOSTS_FILE =
  process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'

/** Lists of a hundred thousand blocked names exist; a file beyond this is a mistake, and is left alone. */
const MOST_BYTES = 8 * 1024 * 1024
/** A change of the file is seen so soon. */
const LOOK_AGAIN_MS = 2_000

type Names = ReadonlyMap<string, readonly Resolved[]>

/** The addresses of a name in lower case; undefined if the file does not know it, or can't be read. */
export function hostsFile(path: string): (hostname: string) => Promise<readonly Resolved[] | undefined> {
  let names: Names = new Map()
  let version = ''
  let looked = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  // Without a free descriptor what was read before still holds.
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
 * Each line: an address, then its names. Later lines add to earlier ones; what is no address is left out.
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
