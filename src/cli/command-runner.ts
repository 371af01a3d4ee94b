/**
 * Runs the commands of `mcp`: in a process the one that its arguments name, in a thread one after another. What they advise to type is
 * told as calls of its tools.
 */
import { parentPort } from 'node:worker_threads'
import { wholeTable } from './command-table.ts'
import { tellCommandsAs } from './connection/next-steps.ts'
import { main } from './main.ts'
import { callFor } from './mcp/advice.ts'

/** Of what one command prints. */
const MOST_CHARACTERS = 4 * 1024 * 1024

const { chapters } = await wholeTable()
const records = chapters.flatMap(([, records]) => records)
tellCommandsAs(words => callFor(words, records))

if (parentPort === null) process.exitCode = await main(process.argv.slice(2))
else serve(parentPort)

/** What `market_status` runs, with which coding agents begin: they think a while before. The first `fetch` is slow too. */
function loadFirst() {
  return Promise.all([
    import('./commands/agents.ts'),
    import('./commands/deliveries.ts'),
    import('./commands/clock.ts'),
    import('./endpoint/run.ts'),
    fetch('data:,'),
  ])
}

function serve(port: NonNullable<typeof parentPort>): void {
  let text = ''
  const hear: typeof process.stdout.write = (chunk, encoding?: unknown, written?: unknown) => {
    text = (text + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).slice(0, MOST_CHARACTERS)
    const done = (typeof encoding === 'function' ? encoding : written) as (() => void) | undefined
    if (done) process.nextTick(done)
    return true
  }
  process.stdout.write = hear
  process.stderr.write = hear
  port.on('message', async (args: readonly string[]) => {
    text = ''
    const exitCode = await main(args)
    port.postMessage({ exitCode, text })
  })
  void loadFirst().catch(() => {})
}
