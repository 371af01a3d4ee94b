/** Says who has a port of this machine, as far as /proc tells: processes of other users keep that to themselves. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { defaults } from '../../settings/config.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { plain } from '../output/ui.ts'

/** Turns the error of a port in use into one that names its owner and the next free port. Others stay as they are. */
export async function withPortOwner(error: Error, host: string, port: number): Promise<Error> {
  if ((error as NodeJS.ErrnoException).code === 'EACCES' && isListening(error)) {
    const hint = `Ports from 1024 on are for everybody: --port ${defaults.port}`
    return new Fault(`This user may not listen on port ${port}`, { code: exitCodes.failed, hint })
  }
  const cause = error.cause as (NodeJS.ErrnoException & { port?: number }) | undefined
  if (cause?.code !== 'EADDRINUSE') return error
  // It may be that of the metrics.
  const taken = cause.port ?? port
  const owner = portOwner(taken)
  const next = await nextFree(host, taken)
  const [flag = '--port'] = /--[\w-]+/.exec(error.message) ?? []
  return new Fault(owner ? `${error.message}: ${plain(owner.command)} has it (process ${owner.pid})` : error.message, {
    code: exitCodes.failed,
    hint: next ? `The next free port: ${flag} ${next}` : undefined,
  })
}

const isListening = (error: NodeJS.ErrnoException) => error.syscall === 'listen'

const LISTENING = '0A'

/** Returns undefined where nobody listens, and where the owner is another user's. */
export function portOwner(port: number): { pid: string; command: string; folder: string } | undefined {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(path =>
    linesOf(path)
      .map(line => line.trim().split(/\s+/))
      .filter(([, local = '', , state]) => local.endsWith(hex) && state === LISTENING)
      .map(columns => `socket:[${columns[9]}]`),
  )
  if (sockets.length === 0) return undefined
  const pid = entriesOf('/proc').find(
    name => /^\d+$/.test(name) && linksOf(`/proc/${name}/fd`).some(link => sockets.includes(link)),
  )
  if (pid === undefined) return undefined
  const command = linesOf(`/proc/${pid}/cmdline`).join(' ').replaceAll('\0', ' ').trim().slice(0, 100)
  return { pid, command, folder: attempt(() => readlinkSync(`/proc/${pid}/cwd`), '') }
}

/** What a process of another user has can't be read. */
const linksOf = (folder: string) => entriesOf(folder).map(name => attempt(() => readlinkSync(`${folder}/${name}`), ''))
const entriesOf = (folder: string) => attempt(() => readdirSync(folder), [])
const linesOf = (path: string) => attempt(() => readFileSync(path, 'utf8').split('\n'), [])

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch {
    return otherwise
  }
}

const TRIES = 20

async function nextFree(host: string, taken: number): Promise<number | undefined> {
  for (let port = taken + 1; port <= Math.min(taken + TRIES, 65_535); port++) if (await isFree(host, port)) return port
  return undefined
}

function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(false))
    server.listen({ host, port }, () => server.close(() => resolve(true)))
  })
}
