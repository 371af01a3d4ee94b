/** The built program on one database file and one port, started again and again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { type Ended, PROGRAM, run, start } from '../cli/program.ts'
import { SHORT_LIVED } from '../support/short-lived.ts'
import { readErrors, showingFaults } from './server-log.ts'

export interface Running {
  url: string
  pid: number
  // biome-ignore lint/suspicious/noExplicitAny: the ready line
  ready: any
  /** From the start of the process to its ready line, in ms. */
  readyMs: number
  kill(signal: NodeJS.Signals): Promise<Ended>
  signal(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

interface Wrapped {
  url: string
  ended: Promise<Ended>
  /** SIGTERM, then its end. */
  end(): Promise<Ended>
}

export interface Deployment {
  folder: string
  file: string
  start(mode: 'dev' | 'serve'): Promise<Running>
  /** Starts the program and kills it `ms` later, ready or not. */
  startInVain(ms: number): Promise<void>
  /** Has dev make accounts, money, and an agent that can be hired, and ends it. */
  prepare(): Promise<Running>
  /** `serve` as the child of another command; a signal goes to the server itself. */
  serveUnder(command: readonly string[]): Promise<Wrapped>
  /** `marketplace db check`; throws unless it says that the file is whole. */
  check(): Promise<void>
}

/**
 * Runs a test on a deployment of its own. If it throws, the errors of its servers are shown; none of them is left running.
 * `ca` is what they trust besides Node's own: the authority of a local agent.
 */
export async function withDeployment<Result>(
  folder: string,
  ca: string | null,
  test: (deployment: Deployment) => Promise<Result>,
): Promise<Result> {
  const errors: string[] = []
  const running = new Set<() => unknown>()
  const note: Note = (child, kill = () => child.kill('SIGKILL')) => {
    readErrors(child, `server ${child.pid}`, errors)
    running.add(kill)
    child.once('close', () => running.delete(kill))
  }
  const deployment = await openDeployment(folder, ca, note)
  try {
    return await showingFaults(errors, () => test(deployment))
  } finally {
    for (const kill of running) kill()
  }
}

type Note = (child: ChildProcess, kill?: () => unknown) => void

async function openDeployment(folder: string, ca: string | null, note: Note): Promise<Deployment> {
  const file = join(folder, 'market.db')
  const port = await freePort()
  const env: NodeJS.ProcessEnv = {}
  if (ca) writeFileSync(join(folder, 'ca.pem'), ca)
  if (ca) env.NODE_EXTRA_CA_CERTS = join(folder, 'ca.pem')
  const flags = ['--json', '--db', file, '--port', String(port), '--payments', 'sandbox', '--rate-limits', 'off']

  const deployment: Deployment = {
    folder,
    file,
    async prepare() {
      const running = await deployment.start('dev')
      const { code, err } = await running.kill('SIGTERM')
      if (code !== 0) throw new Error(`dev ended with ${code}: ${err}`)
      return running
    },
    serveUnder: command =>
      serveUnder([...command, process.execPath, ...SHORT_LIVED, PROGRAM, 'serve', ...flags], folder, note),
    async start(mode) {
      const from = performance.now()
      const { child, ended, firstLine } = start([mode, ...flags], folder, env)
      note(child)
      const line = await firstLine.catch(async () => {
        const { out, err } = await ended
        throw new Error(`The server did not start: ${out}${err}`)
      })
      const readyMs = performance.now() - from
      const ready = JSON.parse(line)
      const signal = (name: NodeJS.Signals) => void child.kill(name)
      const kill = (name: NodeJS.Signals) => {
        signal(name)
        return ended
      }
      return { url: ready.url, pid: child.pid!, ready, readyMs, kill, signal, ended }
    },
    async startInVain(ms) {
      const { child, ended } = start(['dev', ...flags], folder, env)
      note(child)
      await new Promise(resolve => setTimeout(resolve, ms))
      child.kill('SIGKILL')
      await ended
    },
    async check() {
      const { code, out, err } = await run(['db', 'check', file, '--json'], folder)
      if (code !== 0) throw new Error(`db check ended with ${code}: ${out}${err}`)
    },
  }
  return deployment
}

async function serveUnder([command, ...args]: readonly string[], cwd: string, note: Note): Promise<Wrapped> {
  const child = spawn(command!, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let server = child.pid!
  note(child, () => {
    if (child.exitCode === null) process.kill(server, 'SIGKILL')
  })
  let err = ''
  child.stderr.on('data', chunk => (err += chunk))
  const lines = createInterface({ input: child.stdout })
  let last = ''
  lines.on('line', line => (last = line))
  const ended = once(child, 'close').then(([code]): Ended => ({ code, out: last, err }))
  const silence = ended.then(() => Promise.reject(new Error(`${command} ended before the server was ready: ${err}`)))
  silence.catch(() => {})
  const [line] = await Promise.race([once(lines, 'line'), silence])
  const ready = JSON.parse(line)
  server = ready.pid
  const end = () => {
    process.kill(server, 'SIGTERM')
    return ended
  }
  return { url: ready.url, ended, end }
}
