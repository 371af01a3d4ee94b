/** What tests of the journal share: a stand-in for the marketplace, and agents in this process and in their own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type AgentOptions, agentHandler, type WebhookEvent } from '../../src/client/webhooks.ts'
import { programOf } from '../support/child-code.ts'
import { listen } from '../support/listen.ts'
import { inTime, until } from '../support/patience.ts'
import { makeEvent, SECRET } from './toolkit.ts'

const AGENT = programOf('test/client/journal-agent.ts')

export const task = (title: string, callbackUrl?: string, extra: object = {}): WebhookEvent =>
  makeEvent('task.submitted', callbackUrl, { title, taskId: `task_${title}`, ...extra })

export const delivery = (id: string) => ({ 'X-Service-Delivery-Id': id })

/** A stand-in for the marketplace. It answers with what `status` says, and not at all to null; with `error` if it refuses. */
export async function marketplace(status: (action: string, words: string) => number | null, error = '') {
  const came: { action: string; words: string; signature: string }[] = []
  const server = await listen(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const { action, content = '' } = JSON.parse(text)
    came.push({ action, words: content, signature: String(request.headers['x-service-signature']) })
    const code = status(action, content)
    if (code !== null) response.writeHead(code).end(JSON.stringify({ success: code < 300, data: came.length, error }))
  })
  return { ...server, came, actions: () => came.map(({ action }) => action) }
}

export interface Started {
  kill(): Promise<void>
  readonly url: string
  readonly refused: string
  readonly errors: string[]
}

type Work = (stage: Stage) => Promise<void>

/** One journal, in a folder of its own. Nothing of it is left. */
export const onStage = (work: Work) => async () => {
  const stage = new Stage()
  try {
    await work(stage)
  } finally {
    await stage.end()
  }
}

class Stage {
  readonly folder = fs.mkdtempSync(join(tmpdir(), 'journal-'))
  readonly path = join(this.folder, 'agent.journal')
  readonly #ends: (() => unknown)[] = []

  get text(): string {
    return fs.readFileSync(this.path, 'utf8')
  }

  /** Starts an agent in a process of its own. `before`: what the shell does first. */
  async start(before = ''): Promise<Started> {
    const command = ['-c', `${before} exec "$@"`, 'sh', process.execPath, ...AGENT, this.path]
    const child = spawn('sh', command, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    const kill = async () => {
      child.kill('SIGKILL')
      await exit
    }
    this.#ends.push(kill)
    const errors: string[] = []
    const lines = createInterface({ input: child.stdout })
    const [first] = await inTime('its first line', once(lines, 'line'))
    lines.on('line', line => errors.push(JSON.parse(line).error))
    return { kill, errors, url: '', refused: '', ...JSON.parse(first) }
  }

  /** Makes an agent in this process. `stop` resolves when its journal is free again. */
  async open(options: Partial<AgentOptions>) {
    const over = new AbortController()
    const all = { secret: SECRET, journal: this.path, onTask() {}, onError() {}, ...options, signal: over.signal }
    const agent = await listen(agentHandler(all))
    const end = () => {
      over.abort()
      agent.close()
    }
    this.#ends.push(end)
    const stop = async () => {
      end()
      await until('the end of its work', () => this.text.includes('"close"'))
    }
    return { ...agent, stop }
  }

  async end(): Promise<void> {
    for (const end of this.#ends) await end()
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
