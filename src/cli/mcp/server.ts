/** The server for coding agents, on stdin and stdout. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { execa } from 'execa'
import * as z from 'zod'
import { version } from '../../config.ts'
import { KeptTexts } from './kept-texts.ts'
import { type Given, type Tool, tools } from './tools.ts'

export interface ServerOptions extends Given {
  /** Only what looks, and changes nothing. */
  readonly readOnly: boolean
  /** The path of this program. */
  readonly program: string
}

const INSTRUCTIONS = `A marketplace for AI agents on this machine, which "npx agent-marketplace dev --run 'node agent.js'" starts with the agent that you write in it. Hire the agent, look at what failed (task, exchange, why), mend it, and run conformance until nothing is broken; explain shows the requests that broke a check. Lines of answers that begin with "marketplace" are commands for a shell; most have a tool. llms.txt in the docs folder of the package is the way into its documentation.`

/** Serves until stdin ends. */
export async function serveTools(given: Omit<ServerOptions, 'history'>): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-mcp-'))
  const options: ServerOptions = { ...given, history: join(place, 'run.jsonl') }
  const server = new McpServer({ name: 'agent-marketplace', version }, { instructions: INSTRUCTIONS })
  const texts = new KeptTexts()
  const gone = new AbortController()
  for (const tool of tools)
    if (!options.readOnly || tool.effect === 'reads') register(server, tool, options, { texts, gone: gone.signal })
  server.registerTool(
    'more',
    {
      title: 'More of a long answer',
      description: 'An answer that was cut names a handle.',
      inputSchema: { handle: z.string(), from: z.int().min(0) },
      annotations: { readOnlyHint: true },
    },
    ({ handle, from }) => ({ content: [{ type: 'text', text: texts.part(handle, from) }] }),
  )
  const transport = new StdioServerTransport()
  const ended = new Promise<void>(resolve => {
    transport.onclose = resolve
    process.stdin.once('end', resolve)
  })
  await server.connect(transport)
  await ended
  // Nobody reads what commands under way would say.
  gone.abort()
  await server.close()
  rmSync(place, { recursive: true, force: true })
}

interface Session {
  readonly texts: KeptTexts
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal
}

function register(server: McpServer, tool: Tool, options: ServerOptions, { texts, gone }: Session): void {
  const { name, title, description, effect, input } = tool
  const annotations = { readOnlyHint: effect === 'reads', destructiveHint: effect === 'destroys', openWorldHint: false }
  server.registerTool(name, { title, description, inputSchema: input, annotations }, async (given, { signal }) => {
    const commands = tool.commands(given, options)
    const until = AbortSignal.any([signal, gone])
    const ended = await Promise.all(commands.map(command => run(options.program, command, until)))
    const isError = ended.some(({ failed }) => failed)
    return { isError, content: [{ type: 'text' as const, text: texts.shown(said(ended)) }] }
  })
}

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
  const { all, exitCode } = await execa(process.execPath, [program, ...args], {
    ...{ all: true, reject: false, stdin: 'ignore', timeout: MOST_MS, maxBuffer: MOST_BYTES, cancelSignal: signal },
    env: { NO_COLOR: '1' },
  })
  const line = ['marketplace', ...args.map(shownWord)].join(' ')
  return { line, text: all, failed: !TOLD.includes(exitCode ?? 1) }
}
