/** Runs an agent in a process of its own, as an author would, behind the local HTTPS front. */
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { execa } from 'execa'
import { createFrontAuthority, type FrontAuthority, startFront } from './https-front.ts'

export interface AgentProcess {
  /** Its webhook URL. */
  url: string
  /** The certificate of the authority that its front has. */
  ca: FrontAuthority['ca']
  use(secret: string): void
  close(): Promise<void>
}

const PACKAGE = createRequire(import.meta.url).resolve('agent-marketplace/package.json')
const SAMPLE = join(dirname(PACKAGE), 'fixtures/agents/sample.mjs')

/** Starts the sample agent. Throws if it ends before it listens. */
export async function startAgentProcess(): Promise<AgentProcess> {
  const authority = createFrontAuthority()
  // The agent ends when its stdin is closed, so it never outlives this process.
  const child = execa(process.execPath, [SAMPLE], {
    stdin: 'pipe',
    stderr: 'inherit',
    // Its secret comes by stdin, whatever this process has in its environment.
    env: { PORT: '0', MARKETPLACE_WEBHOOK_SECRET: '' },
    reject: false,
  })
  const port = await Promise.race([portOf(child.stdout), ended(child)])
  const front = await startFront({ authority })
  return {
    url: front.route('localhost', `http://127.0.0.1:${port}/webhook`),
    ca: authority.ca,
    use: secret => void child.stdin.write(`${secret}\n`),
    async close() {
      child.stdin.end()
      await front.close()
      await child
    },
  }
}

async function portOf(output: Readable): Promise<number> {
  const [line] = await once(createInterface({ input: output }), 'line')
  return JSON.parse(line).port
}

async function ended(child: Promise<{ exitCode?: number | undefined }>): Promise<never> {
  const { exitCode } = await child
  throw new Error(`The sample agent ended with exit code ${exitCode}. Was the project built (npm run build)?`)
}
