/** What a run of the judge takes: time and memory of the built command, with a quick agent. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { megabytesOf } from './memory.ts'
import { median, memoryRow, ms, type Row } from './table.ts'

const ROUNDS = 3
const LOOK_MS = 100
const fileAt = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const PROGRAM = fileAt('bin/marketplace.js')
const AGENT = fileAt('examples/node-agent.mjs')
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='

interface Run {
  ms: number
  /** The most that was resident, without the agent. */
  megabytes: number
}

function run(args: string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore', env: { ...process.env, ...env } })
    let megabytes = -1
    const look = setInterval(() => {
      megabytes = Math.max(megabytes, megabytesOf(child.pid!, 'VmHWM'))
    }, LOOK_MS)
    child.on('error', reject).on('exit', code => {
      clearInterval(look)
      if (code === 0) resolve({ ms: performance.now() - started, megabytes })
      else reject(new Error(`${args.join(' ')} ended with ${code}`))
    })
  })
}

/** With an agent that runs already. */
async function runBeside(): Promise<Run> {
  const port = await freePort()
  const agent = spawn(process.execPath, [AGENT], {
    stdio: 'ignore',
    env: { ...process.env, PORT: String(port), MARKETPLACE_WEBHOOK_SECRET: SECRET },
  })
  const ended = new Promise(resolve => agent.once('exit', resolve))
  try {
    return await run(['conformance', '--url', `http://127.0.0.1:${port}/webhook`], {
      MARKETPLACE_WEBHOOK_SECRET: SECRET,
    })
  } finally {
    agent.kill()
    await ended
  }
}

export async function judge(): Promise<Row[]> {
  const beside: Run[] = []
  const started: Run[] = []
  for (let round = 0; round < ROUNDS; round++) {
    beside.push(await runBeside())
    started.push(await run(['conformance', '--start', `${process.execPath} ${AGENT}`]))
  }
  const crowd = await run([
    'simulate',
    'buyers',
    '--start',
    `${process.execPath} ${AGENT}`,
    '--buyers',
    '1000',
    '--tasks',
    '1000',
    '--for',
    '30d',
    '--seed',
    '1',
  ])
  const seconds = (name: string, value: number, wanted: string): Row => ({
    name,
    ours: ms(value),
    peer: '',
    ratio: value / 1000,
    wanted,
  })
  const megabytes = Math.max(...[...beside, ...started].map(one => one.megabytes))
  return [
    seconds('conformance, all checks, in s', median(beside.map(one => one.ms)), '<= 15'),
    seconds('conformance --start, all checks, in s', median(started.map(one => one.ms)), '<= 20'),
    memoryRow('conformance, resident at most', megabytes, '<= 150'),
    seconds('simulate buyers, 1,000 over 30 days, in s', crowd.ms, '<= 45'),
  ]
}
