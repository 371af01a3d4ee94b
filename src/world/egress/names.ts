/**
 * Addresses of names, asked for within deadlines of our own. The system's resolver has a few threads, each of which a name
 * whose server never answers holds for ten seconds: a dozen such names would stop whatever goes out. Source: A-188.
 */
import { promises as dns } from 'node:dns'
import { isLocalName, type Resolved } from './addresses.ts'
import { domainOf } from './domains.ts'
import { BusyError, createShares } from './fair-shares.ts'
import { hostsFile, SYSTEM_HOSTS_FILE } from './hosts-file.ts'

/** All addresses of a name, asked for on behalf of an account; rejects when it has none. */
export type Lookup = (hostname: string, account?: string) => Promise<readonly Resolved[]>

export interface NamesOptions {
  /** `dns` asks name servers directly; `system` asks the system's resolver, with whatever it is set up for. */
  resolver?: 'dns' | 'system' | undefined
  /** Name servers, with a port if need be; the system's unless given. */
  servers?: readonly string[] | undefined
  /** The machine's own unless given. */
  hostsPath?: string | undefined
  /** For one name. */
  deadlineMs?: number | undefined
}

export interface Names {
  /** Rejects with an error that has a code, as those of `node:dns` do. */
  lookup: Lookup
  /** Whether name servers answer at all: if they do, a name that can't be looked up is its owner's matter. */
  answer(): Promise<boolean>
}

const DEADLINE_MS = 5_000
/** The next server, or the same one again, is asked after it. */
const TRY_MS = 1_500
/** When one family has answered, the other gets so much more. */
const OTHER_FAMILY_MS = 500
/** A socket is all that a look-up holds, so many of them do no harm; and no account or domain has more than a few. */
const AT_ONCE = { total: 256, each: 8, waiting: 1_000 }
const KEPT_NAMES = 2_000
const KEPT_MS = { most: 60_000, absent: 5_000, failed: 15_000 }
/** Of one name; those behind are never connected to. */
const MOST_ADDRESSES = 64

interface Found {
  addresses: readonly Resolved[]
  keepMs: number
}

export function createNames(options: NamesOptions = {}): Names {
  const { resolver = 'dns', deadlineMs = DEADLINE_MS } = options
  const inHosts = hostsFile(options.hostsPath ?? SYSTEM_HOSTS_FILE)
  const shares = createShares({ ...AT_ONCE, waitMs: deadlineMs })
  const kept = createKept()
  const asking = new Map<string, Promise<readonly Resolved[]>>()
  const inTurn = new Map<string, Promise<readonly Resolved[]>>()
  const answering = new Map<string, Promise<boolean>>()
  const find = resolver === 'system' ? askSystem : (name: string) => askServers(name, options.servers, deadlineMs)

  async function ask(name: string): Promise<readonly Resolved[]> {
    try {
      const { addresses, keepMs } = await find(name)
      kept.keep(name, addresses, keepMs)
      return addresses
    } catch (error) {
      if (!isOwnFault(codeOf(error))) kept.keep(name, error as Error, isAbsent(error) ? KEPT_MS.absent : KEPT_MS.failed)
      throw error
    }
  }

  /** Shared with whoever asks for the name meanwhile. */
  async function askInTurn(name: string, account: string): Promise<readonly Resolved[]> {
    const leave = await shares.acquire([`account ${account}`, `domain ${domainOf(name)}`]).catch(error => {
      throw codeError(error instanceof BusyError && error.overall ? 'EBUSY' : 'ETIMEOUT')
    })
    try {
      return await (known(name) ?? once(asking, name, () => ask(name)))
    } finally {
      leave()
    }
  }

  function known(name: string): readonly Resolved[] | undefined {
    const found = kept.of(name)
    if (found instanceof Error) throw found
    return found
  }

  async function lookup(hostname: string, account = ''): Promise<readonly Resolved[]> {
    if (isLocalName(hostname)) return LOCAL
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const own = await inHosts(name)
    if (own) return own
    // What is under way is anybody's; a turn is not: whoever has used up a share would keep others from the same name.
    return known(name) ?? asking.get(name) ?? once(inTurn, `${account} ${name}`, () => askInTurn(name, account))
  }

  const answer = () => once(answering, '', () => serversAnswer(options.servers))
  return { lookup, answer }
}

const LOCAL: readonly Resolved[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** What was found out a moment ago, the oldest of it dropped first. */
function createKept() {
  const known = new Map<string, { until: number; found: readonly Resolved[] | Error }>()
  return {
    of(name: string) {
      const one = known.get(name)
      return one && one.until > performance.now() ? one.found : undefined
    },
    keep(name: string, found: readonly Resolved[] | Error, ms: number) {
      known.delete(name)
      if (ms <= 0) return
      known.set(name, { until: performance.now() + ms, found })
      if (known.size > KEPT_NAMES) known.delete(known.keys().next().value as string)
    },
  }
}

/** A resolver for each name: it has a port of its own, follows resolv.conf as it is now, and is cut off alone. */
function resolverOf(servers: readonly string[] | undefined) {
  const resolver = new dns.Resolver({ timeout: TRY_MS, tries: 2 })
  if (servers) resolver.setServers(servers)
  return resolver
}

/**
 * Both families at once. Neither waits long for the other: there are name servers that never say anything about IPv6.
 * Names are asked for as they stand, without search paths: what those lead to is private, and may not be called.
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

/** That a name has no address is only said when both families say so. */
function worse(errors: readonly unknown[]): unknown {
  const error = errors.find(one => !isAbsent(one)) ?? errors[0]
  return codeOf(error) === 'ECANCELLED' ? codeError('ETIMEOUT') : error
}

async function askSystem(name: string): Promise<Found> {
  return { addresses: await dns.lookup(name, { all: true }), keepMs: KEPT_MS.absent }
}

/** Every name server knows the root. A refusal is an answer as well; "I could not find out" is not. */
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

/** One piece of work for each key, shared by all who want it until it ends. */
function once<T>(running: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  const known = running.get(key)
  if (known) return known
  const begun = work().finally(() => running.delete(key))
  running.set(key, begun)
  return begun
}

const codeOf = (error: unknown) => String((error as { code?: unknown }).code)
const isAbsent = (error: unknown) => /^E(?:NOTFOUND|NODATA)$/.test(codeOf(error))
/** c-ares calls it refused when no socket could be made, and when there is no name server at its place. */
export const isOwnFault = (code: string) => /^E(?:CONNREFUSED|BUSY|MFILE|NFILE|NOMEM|CANCELLED|DESTRUCTION)$/.test(code)
const codeError = (code: string) => Object.assign(new Error(`The look-up ended with ${code}.`), { code })
