/** What a start costs: time and memory of the built command, against the bare runtime. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { megabytesOf } from './memory.ts'
import { median, memoryRow, ms, type Row } from './table.ts'

const ROUNDS = 9
const PROGRAM = fileURLToPath(new URL('../../bin/marketplace.js', import.meta.url))
const DEV = [PROGRAM, 'dev', '--ephemeral', '--json', '--port', '0']

interface Start {
  ms: number
  /** Resident, once it is ready. */
  megabytes: number
}

/** Until the process has ended. */
const run = (args: string[]) =>
  new Promise<number>((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, args, { stdio: 'ignore' })
    child.on('error', reject).on('exit', () => resolve(performance.now() - started))
  })

/** Until the first line, which says that the server answers. */
const untilReady = (args: string[]) =>
  new Promise<Start>((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let ready: Start | undefined
    child.stdout.once('data', () => {
      const passed = performance.now() - started
      ready = { ms: passed, megabytes: megabytesOf(child.pid!, 'VmRSS') }
      child.kill('SIGTERM')
    })
    child.on('exit', () => (ready ? resolve(ready) : reject(new Error(`${args.join(' ')} ended before it was ready`))))
  })

export async function starts(): Promise<Row[]> {
  const node: number[] = []
  const help: number[] = []
  const dev: Start[] = []
  for (let round = 0; round < ROUNDS; round++) {
    node.push(await run(['-e', '0']))
    help.push(await run([PROGRAM, '--help']))
    dev.push(await untilReady(DEV))
  }
  const bare = median(node)
  const row = (name: string, value: number, wanted: string): Row => ({
    name: `${name} : node -e 0`,
    ours: ms(value),
    peer: ms(bare),
    ratio: value / bare,
    wanted,
  })
  const resident = median(dev.map(({ megabytes }) => megabytes))
  return [
    row('--help', median(help), '<= 1.8'),
    row('dev --ephemeral --json, ready', median(dev.map(start => start.ms)), '<= 4.5'),
    memoryRow('resident after the start', resident, '<= 80'),
  ]
}
