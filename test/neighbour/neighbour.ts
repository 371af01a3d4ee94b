/**
 * A noisy neighbour: ten hostile builders do all that is known to hurt, within the strict limits of their ten addresses,
 * while others live on. What the others wait for, what the server needs, and whether it starts again afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFrontAuthority } from '../../src/sim/agents/https-front.ts'
import { type Ended, run, start } from '../cli/program.ts'
import { programOf } from '../support/child-code.ts'
import { type Agents, startAgents } from './agents.ts'
import { liveOn, type Waits } from './honest.ts'
import { startNameServer } from './name-server.ts'
import { type Population, settlePopulation } from './population.ts'

export interface Report {
  reads: Spread
  writes: Spread
  webhooks: Spread
  faults: string[]
  slowest: Waits['slowest']
  missing: number
  /** How long the thread was held at a time, in ms. */
  held: { p99: number; p999: number; max: number }
  /** Largest resident memory of the server, in MB. */
  peakMb: number
  /** Descriptors of the server before the attack, and when all had gone. */
  descriptors: [before: number, after: number]
  /** Of snapshot and journal, in MB. */
  databaseMb: number
  unansweredNames: number
  /** What came of the attacks, by attack and status. */
  attacks: Record<string, number>
  /** How the server ended when it was asked to. */
  code: number | null
  /** What it logged as an error. */
  errors: string[]
  startsAgain: boolean
}

/** In ms. */
interface Spread {
  count: number
  p50: number
  p99: number
  max: number
}

export interface Scale {
  seconds: number
  /** Buyers who mean well. */
  people: number
  /** Whose attacks; of those who know the program unless given. */
  by?: 'insiders' | 'strangers'
  /** Names of attacks; all unless given. */
  only?: readonly string[]
  /** Of an empty database of Postgres; a file unless given. */
  postgres?: string
}

const INTERNET = new URL('../../test/neighbour/internet.js', import.meta.url)

export async function neighbours(folder: string, scale: Scale): Promise<Report> {
  const authority = createFrontAuthority()
  const names = await startNameServer()
  const agents = await startAgents(authority)
  try {
    writeFileSync(join(folder, 'ca.pem'), await authority.ca)
    const env = {
      MARKETPLACE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      NODE_OPTIONS: `--import ${INTERNET}`,
      NEIGHBOUR_NAME_SERVER: names.address,
    }
    const place: Place = { folder, db: scale.postgres ?? join(folder, 'market.db') }
    const population = await prepare(place, env, agents, scale.people)
    const report = await attackOn(place, env, agents, population, scale)
    return { ...report, unansweredNames: names.unanswered }
  } finally {
    await agents.close()
    await names.close()
  }
}

interface Place {
  folder: string
  /** A file, or the URL of Postgres. */
  db: string
}

const flags = ({ db }: Place) => ['--json', '--db', db, '--port', '0']

async function prepare(place: Place, env: NodeJS.ProcessEnv, agents: Agents, people: number): Promise<Population> {
  const { child, ended, firstLine } = start(['dev', ...flags(place)], place.folder, env)
  const population = await settlePopulation(JSON.parse(await firstLine), agents, people)
  child.kill('SIGTERM')
  const { code, err } = await ended
  if (code !== 0) throw new Error(`the simulator ended with ${code}: ${err}`)
  return population
}

async function attackOn(place: Place, env: NodeJS.ProcessEnv, agents: Agents, population: Population, scale: Scale) {
  const { folder, db: file } = place
  const { seconds, postgres } = scale
  const held = join(folder, 'held.json')
  const watched = { ...env, NEIGHBOUR_HELD: held }
  const serve = () => start(['serve', ...flags(place), '--payments', 'sandbox'], folder, watched, '', [])
  const { child, ended, firstLine } = serve()
  const errors: string[] = []
  child.stdout!.on('data', chunk => errors.push(...errorsIn(String(chunk))))
  const { url } = JSON.parse(await firstLine)
  const before = descriptors(child.pid!)
  const hostile = startHostile(url, population, scale)
  let waits: Waits
  try {
    waits = await liveOn(url, population.honest, agents, seconds)
  } finally {
    hostile.stop()
  }
  const attacks = await hostile.report
  const peakMb = peakOf(child.pid!)
  const after = await settledDescriptors(child.pid!, before)
  const { code } = await end(child, ended)
  const heldOf = JSON.parse(readFileSync(held, 'utf8'))
  const databaseMb = (size(file) + size(`${file}.journal`) + size(`${file}.journal.sealed`)) / 1e6
  const isWhole = postgres !== undefined || (await run(['db', 'check', file, '--json'], folder)).code === 0
  const again = serve()
  const startsAgain = isWhole && (await again.firstLine.then(line => JSON.parse(line).type === 'ready'))
  await end(again.child, again.ended)
  return {
    reads: spread(waits.reads),
    writes: spread(waits.writes),
    webhooks: spread(waits.webhooks),
    faults: waits.faults,
    slowest: waits.slowest,
    missing: waits.missing,
    held: heldOf,
    peakMb,
    descriptors: [before, after] as [number, number],
    databaseMb,
    attacks,
    code,
    errors,
    startsAgain,
  }
}

/** SIGTERM; a server that does not heed it within half a minute is killed, and its code is null. */
async function end(child: ChildProcess, ended: Promise<Ended>): Promise<Ended> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  return ended.finally(() => clearTimeout(timer))
}

function startHostile(url: string, { hostile, honest }: Population, { by = 'insiders', only }: Scale) {
  const orders = JSON.stringify({ url, hostile, victims: honest.map(({ email }) => email), by, only })
  const child = spawn(process.execPath, programOf('test/neighbour/hostile-process.ts'), {
    env: { ...process.env, NODE_OPTIONS: '', NEIGHBOUR_ORDERS: orders },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', chunk => (out += chunk))
  return {
    stop: () => void child.stdin.end(),
    report: once(child, 'close').then((): Record<string, number> => JSON.parse(out || '{}')),
  }
}

const errorsIn = (text: string) =>
  text.split('\n').filter(line => /"(?:level|type)":"error"/.test(line) && !/"type":"request"/.test(line))

/** In MB. */
function peakOf(pid: number): number {
  const [, kb] = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmHWM:\s+(\d+) kB/m)!
  return Number(kb) / 1024
}

const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

async function settledDescriptors(pid: number, before: number): Promise<number> {
  // Idle connections are kept for some seconds on both sides.
  let now = descriptors(pid)
  for (let i = 0; i < 60 && now > before + 20; i++) {
    await new Promise(resolve => setTimeout(resolve, 500))
    now = descriptors(pid)
  }
  return now
}

function size(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function spread(values: readonly number[]): Spread {
  const sorted = values.map(Math.round).sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
