/** What every measurement has at hand: the processes, a server of 1,000 agents, requests as bytes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Load, Measured } from './load.ts'
import { sinkHosts } from './sink-hosts.ts'
import { start, type Worker } from './worker.ts'

export interface BenchServer {
  worker: Worker
  port: number
  key: string
  tasks: string[]
}

export interface Bench {
  folder: string
  load(load: Load): Promise<number>
  /** The market alone, without server and dispatcher. */
  quiet(): Promise<Worker>
  bare(): Promise<{ worker: Worker; port: number; sinkPort: number; ca: string }>
  /** With 1,000 agents and this many tasks; opened by the first who asks. */
  server(tasks: number, rateLimits?: 'strict'): Promise<BenchServer>
  end(): Promise<void>
}

/** `from`: the address that a proxy names. */
export function get(path: string, key?: string, from?: string): string {
  const more = (from ? `X-Forwarded-For: ${from}\r\n` : '') + (key ? `Authorization: Bearer ${key}\r\n` : '')
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}\r\n`
}

export function post(path: string, body: string, key?: string): string {
  const auth = key ? `Authorization: Bearer ${key}\r\n` : ''
  const type = body ? 'Content-Type: application/json\r\n' : ''
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${auth}${type}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

export function createBench(): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const workers: Worker[] = []
  const begin = (file: string) => {
    const worker = start(file)
    workers.push(worker)
    return worker
  }
  let loader: Worker | undefined
  let quiet: Promise<Worker> | undefined
  let bare: ReturnType<Bench['bare']> | undefined
  const servers = new Map<string, Promise<BenchServer>>()

  async function openBare() {
    const worker = begin('./bare.ts')
    const { sinkPort, ca } = await worker.ask('sink', sinkHosts)
    return { worker, port: await worker.ask('serve'), sinkPort, ca }
  }

  const bench: Bench = {
    folder,
    async load(load) {
      loader ??= begin('./load.ts')
      const { rate, fault }: Measured = await loader.ask('run', load)
      if (fault) throw new Error(`The load was refused: ${fault}`)
      return rate
    },
    bare() {
      bare ??= openBare()
      return bare
    },
    quiet() {
      const open = async () => {
        const { sinkPort, ca } = await bench.bare()
        const worker = begin('./server.ts')
        await worker.ask('openQuiet', { file: join(folder, 'quiet.db'), agents: 1000, tasks: 1000, sinkPort, ca })
        return worker
      }
      quiet ??= open()
      return quiet
    },
    server(tasks, rateLimits) {
      const name = `server-${tasks}-${rateLimits ?? 'off'}`
      const open = async () => {
        const { sinkPort, ca } = await bench.bare()
        const worker = begin('./server.ts')
        const furnished = { file: join(folder, `${name}.db`), agents: 1000, tasks, sinkPort, ca, rateLimits }
        return { worker, ...(await worker.ask('open', furnished)) } as BenchServer
      }
      const server = servers.get(name) ?? open()
      servers.set(name, server)
      return server
    },
    async end() {
      await Promise.all(workers.map(worker => worker.end()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return bench
}
