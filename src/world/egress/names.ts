/**
 * Resolves names within deadlines of our own. The system's resolver has only a few threads, and a name whose server never
 * responds blocks one for ten seconds. So a dozen such names would stop all outgoing requests. Source: A-188.
 */
import { promises as dns } from 'node:dns'
import { boundedCache } from '../../shared/bounded-cache.ts'
import { domainOf, isLocalName, type Resolved } from './addresses.ts'
import { createShares, NoSlotError } from './fair-shares.ts'
import { hostsFile, SYSTEM_HOSTS_FILE } from './hosts-file.ts'

/** Resolves to all addresses of a name, looked up on behalf of an account. Rejects if it has none. */
export type Lookup = (hostname: string, account?: string) => Promise<readonly Resolved[]>

export interface NamesOptions {
  /** `dns` asks name servers directly. `system` uses the system's resolver with all its settings. */
  resolver?: 'dns' | 'system' | undefined
  /** Name servers, optionally with a port; the system's unless given. */
  servers?: readonly string[] | undefined
  /** The path of the hosts file; the machine's own unless given. */
  hostsPath?: string | undefined
  /** For one lookup. */
  deadlineMs?: number | undefined
}

export interface Names {
  /** Its errors have a code, like those of `node:dns`. */
  lookup: Lookup
  /** Whether the name servers respond at all. If they do, a failed lookup is the fault of the name's owner. */
  answer(): Promise<boolean>
}

const DEADLINE_MS = 5_000
/** After this long, the next server is asked, or the same one again. */
const TRY_MS = 1_500
/** How much longer one address family may take once the other has responded. */
const OTHER_FAMILY_MS = 500
/** A lookup takes only a socket, so many may run. No account and no domain has more than a few. */
const AT_ONCE = { total: 256, each: 8, waiting: 1_000 }
/** Room for some 2,000 names with two addresses, or 100 with the most. */
const KEPT_BYTES = 1024 * 1024
/** An address takes some 100 bytes as an object; an error takes more, for its stack. */
const bytesOfFound = (found: readonly Resolved[] | Error) => (found instanceof Error ? 1_000 : 100 * found.length)
const KEPT_MS = { most: 60_000, absent: 5_000, failed: 15_000 }
/** The most addresses of one name. Further ones are ignored. */
const MOST_ADDRESSES = 64

interface Found {
  addresses: readonly Resolved[]
  keepMs: number
}

export function createNames(options: NamesOptions = {}): Names {
  const { resolver = 'dns', deadlineMs = DEADLINE_MS } = options
  const inHosts = hostsFile(options.hostsPath ?? SYSTEM_HOSTS_FILE)
  const shares = createShares({ ...AT_ONCE, waitMs: deadlineMs })
  const kept = boundedCache<readonly Resolved[] | Error>({ maxBytes: KEPT_BYTES, bytesOf: bytesOfFound })
  const asking = new Map<string, Promise<readonly Resolved[]>>()
  const waiting = new Map<string, Promise<readonly Resolved[]>>()
  const answering = new Map<string, Promise<boolean>>()
  const find = resolver === 'system' ? askSystem : (name: string) => askServers(name, options.servers, deadlineMs)

  async function ask(name: string): Promise<readonly Resolved[]> {
    try {
      const { addresses, keepMs } = await find(name)
      kept.set(name, addresses, keepMs)
      return addresses
    } catch (error) {
      if (!isOwnFault(codeOf(error))) kept.set(name, error as Error, isAbsent(error) ? KEPT_MS.absent : KEPT_MS.failed)
      throw error
    }
  }

  /** Waits for a slot, then looks the name up. A lookup under way is shared with others who want the same name. */
  async function askWithSlot(name: string, account: string): Promise<readonly Resolved[]> {
    const own = `account ${account}`
    const leave = await shares.acquire([own, `domain ${domainOf(name)}`]).catch(error => {
      // Only an account that has used up its own share is to blame. The slots of a domain may be taken by other accounts.
      throw codeError(error instanceof NoSlotError && !error.exhausted.includes(own) ? 'EBUSY' : 'ETIMEOUT')
    })
    try {
      return await (known(name) ?? once(asking, name, () => ask(name)))
    } finally {
      leave()
    }
  }

  function known(name: string): readonly Resolved[] | undefined {
    const found = kept.get(name)
    if (found instanceof Error) throw found
    return found
  }

  async function lookup(hostname: string, account = ''): Promise<readonly Resolved[]> {
    if (isLocalName(hostname)) return LOCAL
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const own = await inHosts(name)
    if (own) return own
    // A running lookup is shared by all accounts, but waiting for a slot is not: an account that has used up its share must
    // not delay other accounts that want the same name.
    return known(name) ?? asking.get(name) ?? once(waiting, `${account} ${name}`, () => askWithSlot(name, account))
  }

  const answer = () => once(answering, '', () => serversAnswer(options.servers))
  return { lookup, answer }
}

const LOCAL: readonly Resolved[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Makes a resolver for one name. It has its own port, uses the current resolv.conf, and can be cancelled alone. */
function resolverOf(servers: readonly string[] | undefined) {
  const resolver = new dns.Resolver({ timeout: TRY_MS, tries: 2 })
  if (servers) resolver.setServers(servers)
  return resolver
}

/**
 * Asks for both address families at once. Neither waits long for the other, as some name servers never respond about IPv6.
 * Search domains are not used: they lead to private names, which may not be called.
 */
async function askServers(name: string, servers: readonly string[] | undefined, deadlineMs: number): Promise<Found> {
  const resolver = resolverOf(servers)
  let deadline = setTimeout(() => resolver.cancel(), deadlineMs)
  const shorten = () => {
    clearTimeout(deadline)
    deadline = setTimeout(() => resolver.cancel(), OTHER_FAMILY_MS)
  }
  try {
    const asked = [resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })]
    for (const one of asked) one.then(shorten, () => {})
    const results = await Promise.allSettled(asked)
    const records = results.flatMap((result, at) =>
      result.status === 'fulfilled' ? result.value.map(record => ({ ...record, family: at === 0 ? 4 : 6 })) : [],
    )
    if (records.length === 0) throw worse(results.map(result => (result as PromiseRejectedResult).reason))
    const keepMs = Math.min(KEPT_MS.most, ...records.map(({ ttl }) => ttl * 1000))
    return { keepMs, addresses: records.slice(0, MOST_ADDRESSES).map(({ address, family }) => ({ address, family })) }
  } finally {
    clearTimeout(deadline)
  }
}

/** Chooses the error to report. A name counts as absent only if both families say so. */
function worse(errors: readonly unknown[]): unknown {
  const error = errors.find(one => !isAbsent(one)) ?? errors[0]
  return codeOf(error) === 'ECANCELLED' ? codeError('ETIMEOUT') : error
}

async function askSystem(name: string): Promise<Found> {
  return { addresses: await dns.lookup(name, { all: true }), keepMs: KEPT_MS.absent }
}

/** Asks for the root, which every name server knows. A refusal counts as a response; a server failure does not. */
async function serversAnswer(servers: readonly string[] | undefined): Promise<boolean> {
  const resolver = resolverOf(servers)
  const deadline = setTimeout(() => resolver.cancel(), 2 * TRY_MS)
  try {
    await resolver.resolveNs('.')
    return true
  } catch (error) {
    return ['ENODATA', 'ENOTFOUND', 'EREFUSED', 'ENOTIMP', 'EFORMERR'].includes(codeOf(error))
  } finally {
    clearTimeout(deadline)
  }
}

/** Runs `work` once for each key. Callers with the same key share it until it ends. */
function once<T>(running: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  const known = running.get(key)
  if (known) return known
  const begun = work().finally(() => running.delete(key))
  running.set(key, begun)
  return begun
}

const codeOf = (error: unknown) => String((error as { code?: unknown }).code)
const isAbsent = (error: unknown) => /^E(?:NOTFOUND|NODATA)$/.test(codeOf(error))
/** c-ares reports ECONNREFUSED if no socket could be opened and if no name server listens at the address. */
export const isOwnFault = (code: string) => /^E(?:CONNREFUSED|BUSY|MFILE|NFILE|NOMEM|CANCELLED|DESTRUCTION)$/.test(code)
const codeError = (code: string) => Object.assign(new Error(`The look-up ended with ${code}.`), { code })
