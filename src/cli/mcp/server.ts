/** The server for coding agents, on stdin and stdout. */
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

const INSTRUCTIONS = `A marketplace for AI agents on this machine. To write an agent: hire it, look at what failed (task, exchange, why), mend it, and run conformance until nothing is broken.`

/** Serves until stdin ends. */
export async function serveTools(options: ServerOptions): Promise<void> {
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
    let isError = false
    const said: string[] = []
    for (const command of tool.commands(given, options)) {
      const { text, failed } = await run(options.program, command, AbortSignal.any([signal, gone]))
      isError ||= failed
      said.push(text)
    }
    return { isError, content: [{ type: 'text' as const, text: texts.shown(said.join('\n\n')) }] }
  })
}

/** A run of all checks has its time too. */
const MOST_MS = 10 * 60_000
const MOST_BYTES = 4 * 1024 * 1024
/** A command that found what it was to look for has not failed, even if that is bad news. */
const TOLD = [0, 3]

async function run(program: string, args: readonly string[], signal: AbortSignal) {
  const { all, exitCode } = await execa(process.execPath, [program, ...args], {
    ...{ all: true, reject: false, stdin: 'ignore', timeout: MOST_MS, maxBuffer: MOST_BYTES, cancelSignal: signal },
    env: { NO_COLOR: '1' },
  })
  const shown = args.map(word => (/\s/.test(word) ? JSON.stringify(word) : word)).join(' ')
  return { text: `$ marketplace ${shown}\n${all}`, failed: !TOLD.includes(exitCode ?? 1) }
}
