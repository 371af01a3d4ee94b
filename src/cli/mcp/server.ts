/** The server for coding agents, on stdin and stdout. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import { execa } from 'execa'
import * as z from 'zod'
import { version } from '../../settings/config.ts'
import { untilSignal } from '../shutdown.ts'
import { LineTransport } from './line-transport.ts'
import { type Given, type Tool, tools } from './tools.ts'
export interface ServerOptions extends Given {
  /** Only what looks, and changes nothing. */
  readonly readOnly: boolean
  /** The path of this program. */
  readonly program: string
}

const INSTRUCTIONS = `A marketplace for AI agents on this machine, which "npx agent-marketplace dev --run 'node agent.js'" starts with the agent that you write in it. Hire the agent, look at what failed (task, exchange, why), mend it, and run conformance until nothing is broken; explain shows the requests that broke a check. Lines of answers that begin with "marketplace" are commands for a shell; most have a tool. llms.txt in the docs folder of the package is the way into its documentation.`

/** Calls that are under way when stdin ends are still answered, as a script asks and closes; for a client that has gone nothing runs longer. */
const LINGER_MS = 30_000
const STOPPED = `This call was stopped: the server was told to end, or stdin had ended ${LINGER_MS / 1000} s before.`

/** Serves until stdin ends and all calls are answered, or a signal comes. */
export async function serveTools(given: Omit<ServerOptions, 'history'>): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-mcp-'))
  const options: ServerOptions = { ...given, history: join(place, 'run.jsonl') }
  const stop = new AbortController()
  const transport = new LineTransport()
  const server = makeServer(options, stop.signal)
  const signalled = untilSignal(async () => stop.abort())
  await server.connect(transport)
  await Promise.race([transport.ended, signalled])
  const timer = setTimeout(() => stop.abort(), LINGER_MS)
  await transport.allAnswered()
  clearTimeout(timer)
  await server.close()
  rmSync(place, { recursive: true, force: true })
}

/** For answers of people to questions: this server asks none. One of its own keeps ajv out of the bundle. */
const unasked: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'Nothing was asked.' }),
}

function makeServer(options: ServerOptions, stop: AbortSignal): McpServer {
  const server = new McpServer(
    { name: 'agent-marketplace', version },
    { instructions: INSTRUCTIONS, jsonSchemaValidator: unasked },
  )
  const session = { texts: new KeptTexts(), stop, inTurn: queue() }
  for (const tool of tools) if (!options.readOnly || tool.effect === 'reads') register(server, tool, options, session)
  server.registerTool(
    'more',
    {
      title: 'More of a long answer',
      description: 'An answer that was cut names a handle.',
      inputSchema: { handle: z.string(), from: z.int().min(0) },
      annotations: { readOnlyHint: true },
    },
    ({ handle, from }) => ({ content: [{ type: 'text', text: session.texts.part(handle, from) }] }),
  )
  return server
}

interface Session {
  readonly texts: KeptTexts
  /** Aborted when calls under way are to end. */
  readonly stop: AbortSignal
  readonly inTurn: ReturnType<typeof queue>
}

/** Work that is done in the order in which it came. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}

function register(server: McpServer, tool: Tool, options: ServerOptions, { texts, stop, inTurn }: Session): void {
  const { name, title, description, effect, input } = tool
  const annotations = { readOnlyHint: effect === 'reads', destructiveHint: effect === 'destroys', openWorldHint: false }
  server.registerTool(name, { title, description, inputSchema: input, annotations }, async (given, { signal }) => {
    const commands = tool.commands(given, options)
    const until = AbortSignal.any([signal, stop])
    const runAll = () => Promise.all(commands.map(command => run(options.program, command, until)))
    const ended = await (tool.oneByOne ? inTurn(runAll) : runAll())
    if (stop.aborted) return answer(STOPPED, true)
    return answer(
      texts.shown(said(ended)),
      ended.some(({ failed }) => failed),
    )
  })
}

const answer = (text: string, isError: boolean) => ({ isError, content: [{ type: 'text' as const, text }] })

interface Ended {
  readonly line: string
  readonly text: string
  readonly failed: boolean
}

/** What fails for one reason is said once. */
const said = (ended: readonly Ended[]): string =>
  ended
    .filter(({ text, failed }, at) => !failed || ended.findIndex(one => one.text === text) === at)
    .map(({ line, text }) => `$ ${line}\n${text}`)
    .join('\n\n')

/** A run of all checks has its time too. */
const MOST_MS = 10 * 60_000
const MOST_BYTES = 4 * 1024 * 1024
/** A command that found what it was to look for has not failed, even if that is bad news. */
const TOLD = [0, 3]

/** A program of jq says nothing to who reads the command line. */
const shownWord = (word: string) =>
  word.startsWith('--jq=') ? '--jq=…' : /\s/.test(word) ? JSON.stringify(word) : word

async function run(program: string, args: readonly string[], signal: AbortSignal): Promise<Ended> {
  const { all, exitCode } = await execa(process.execPath, [...process.execArgv, program, ...args], {
    ...{ all: true, reject: false, stdin: 'ignore', timeout: MOST_MS, maxBuffer: MOST_BYTES, cancelSignal: signal },
    env: { NO_COLOR: '1' },
  })
  const line = ['marketplace', ...args.map(shownWord)].join(' ')
  return { line, text: all, failed: !TOLD.includes(exitCode ?? 1) }
}

/** What a coding agent reads at once without losing its thread. */
const PART = 4_000
/** The end of an answer often is its sum. */
const END = 300
const MOST_KEPT = 20

class KeptTexts {
  readonly #texts = new Map<string, string>()
  #count = 0

  /** Returns the text if it is short; else its beginning, its end, and how to get what is between. */
  shown(text: string): string {
    if (text.length <= PART) return text
    const handle = `text_${++this.#count}`
    this.#texts.set(handle, text)
    if (this.#texts.size > MOST_KEPT) this.#texts.delete(this.#texts.keys().next().value!)
    return `${this.part(handle, 0)}\n… and it ends:\n${text
      .slice(-END)
      .replace(/^[^\n]*\n/, '')
      .toWellFormed()}`
  }

  /** Returns one part, or says that there is none any more. */
  part(handle: string, from: number): string {
    const text = this.#texts.get(handle)
    if (text === undefined) return `There is no ${handle} any more: ask again for what it was about.`
    const end = from + PART
    const part = text.slice(from, end).toWellFormed()
    const left = text.length - end
    return left > 0 ? `${part}\n… ${left} more characters: more {"handle":"${handle}","from":${end}}` : part
  }
}
