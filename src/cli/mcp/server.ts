/** The server for coding agents, on stdin and stdout. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js'
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'
import * as z from 'zod'
import { version } from '../../settings/config.ts'
import { exitCodes } from '../exit-codes.ts'
import { untilSignal } from '../shutdown.ts'
import { withCalls } from './advice.ts'
import { type Answer, Calls, MOST_WAIT_S, type Waiting } from './calls.ts'
import { type Ended, LookingThread, runAsProcess } from './commands.ts'
import { LineTransport } from './line-transport.ts'
import { registerResources } from './resources.ts'
import { type Given, type Tool, tools } from './tools.ts'

export interface ServerOptions extends Given {
  /** Only what looks, and changes nothing. */
  readonly readOnly: boolean
}

const INSTRUCTIONS = `A marketplace for AI agents on this machine, which "npx agent-marketplace dev --run 'node agent.js'" starts with the agent that you write in it. Hire the agent, look at what failed (why, task, exchange), mend it, and run conformance until nothing is broken; explain shows the requests that broke a check. What helps is told as a tool and its input, as why {"about":"my-agent"}; lines that begin with "marketplace" are for a shell. A call that takes long answers with a handle, which result takes. The resource marketplace://llms.txt is the way into the documentation.`

/** Calls that are under way when stdin ends are still answered, as a script asks and closes; for a client that has gone nothing runs longer. */
const LINGER_MS = 30_000
const STOPPED = `This call was stopped: the server was told to end, or stdin had ended ${LINGER_MS / 1000} s before.`

/** Serves until stdin ends and all calls are answered, or a signal comes. */
export async function serveTools(given: Omit<ServerOptions, 'history'>): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'marketplace-mcp-'))
  const options: ServerOptions = { ...given, history: join(place, 'run.jsonl') }
  const stop = new AbortController()
  const session = sessionUntil(stop.signal)
  const transport = new LineTransport()
  const server = makeServer(options, session)
  const signalled = untilSignal(async () => stop.abort())
  await server.connect(transport)
  await Promise.race([transport.ended, signalled])
  const timer = setTimeout(() => stop.abort(), LINGER_MS)
  await transport.allAnswered()
  clearTimeout(timer)
  stop.abort()
  await session.calls.ended()
  await session.thread.close()
  await server.close()
  rmSync(place, { recursive: true, force: true })
}

interface Session {
  readonly texts: KeptTexts
  readonly calls: Calls
  readonly thread: LookingThread
  /** Aborted when calls under way are to end. */
  readonly stop: AbortSignal
  readonly inTurn: ReturnType<typeof queue>
  /** What was last said to be wrong: the first line of each thing. */
  told: readonly string[]
}

const sessionUntil = (stop: AbortSignal): Session => ({
  ...{ texts: new KeptTexts(), calls: new Calls(stop), thread: new LookingThread(), stop, inTurn: queue(), told: [] },
})

/** Work that is done in the order in which it came. */
function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}

/** For answers of people to questions: this server asks none. One of its own keeps ajv out of the bundle. */
const unasked: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'Nothing was asked.' }),
}

const waitingTime = z.number().min(0).max(MOST_WAIT_S).optional().describe('seconds until it answers with a handle')

function makeServer(options: ServerOptions, session: Session): McpServer {
  const server = new McpServer(
    { name: 'agent-marketplace', version },
    { instructions: INSTRUCTIONS, jsonSchemaValidator: unasked },
  )
  for (const tool of tools) if (!options.readOnly || tool.effect === 'reads') register(server, tool, options, session)
  server.registerTool(
    'more',
    {
      title: 'More of a long answer',
      description: 'An answer that was cut names a handle.',
      inputSchema: { handle: z.string(), from: z.int().min(0) },
      annotations: { readOnlyHint: true },
    },
    ({ handle, from }) => content({ text: session.texts.part(handle, from), isError: false }),
  )
  server.registerTool(
    'result',
    {
      title: 'The answer of a call that took long',
      description: 'A call that goes on names a handle. It waits for its end, or stops it.',
      inputSchema: { handle: z.string(), wait: waitingTime, stop: z.boolean().optional() },
      annotations: { readOnlyHint: true },
    },
    async ({ handle, wait, stop = false }, extra) =>
      content(await session.calls.result(handle, stop, waitingFor(extra), wait)),
  )
  registerResources(server, session.thread, options.reach)
  return server
}

const content = ({ text, isError }: Answer) => ({ isError, content: [{ type: 'text' as const, text }] })

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Only who has asked for it is told of progress. */
function waitingFor({ signal, _meta, sendNotification }: Extra): Waiting {
  const progressToken = _meta?.progressToken
  return {
    signal,
    tell(progress, message) {
      if (progressToken === undefined) return
      const params = { progressToken, progress, ...(message && { message }) }
      sendNotification({ method: 'notifications/progress', params }).catch(() => {})
    },
  }
}

function register(server: McpServer, tool: Tool, options: ServerOptions, session: Session): void {
  const { name, title, description, effect, input, isLong } = tool
  const annotations = { readOnlyHint: effect === 'reads', destructiveHint: effect === 'destroys', openWorldHint: false }
  const inputSchema = isLong ? { ...input, wait: waitingTime } : input
  const { calls } = session
  server.registerTool(name, { title, description, inputSchema, annotations }, async (given, extra) => {
    const { wait, ...rest } = given as { wait?: number }
    const work = workOf(tool, rest, options, session)
    const { text, isError } = await calls.make(name, JSON.stringify([name, rest]), work, waitingFor(extra), wait)
    return content({ text: text + calls.lost(), isError })
  })
}

function workOf(tool: Tool, input: Readonly<Record<string, unknown>>, options: ServerOptions, session: Session) {
  const { texts, stop, thread, inTurn } = session
  const commands = tool.commands(input, options)
  return async (signal: AbortSignal, onLine: (line: string) => void): Promise<Answer> => {
    const run = (args: readonly string[]) =>
      tool.effect === 'reads' ? thread.run(args, signal) : runAsProcess(args, signal, onLine)
    const runAll = () => Promise.all(commands.map(run))
    const ended = await (tool.oneByOne ? inTurn(runAll) : runAll())
    if (stop.aborted) return { text: STOPPED, isError: true }
    const text = said(ended, options)
    const about = tool.about && (await thread.run(whyCommand(tool.about(input), options), signal))
    const more = about && isNews(about, text) ? `\n\n${whatIsWrong(about, tool, options, session)}` : ''
    return { text: texts.shown(text + more), isError: ended.some(hasFailed) }
  }
}

/** A call that has nothing to do with it is no reason to tell the same at length once more. */
function whatIsWrong(about: Ended, { isAside }: Tool, options: ServerOptions, session: Session): string {
  const heads = about.text.split('\n').filter(line => line !== '' && !line.startsWith('  '))
  const isTold = isAside && heads.every(head => session.told.includes(head))
  session.told = [...(isAside ? [] : session.told.slice(-MOST_TOLD)), ...heads]
  return isTold ? `Still so, as why tells:\n${heads.join('\n')}` : said([about], options)
}

const whyCommand = (about: string | undefined, { reach }: Given) => [
  'why',
  ...(about === undefined ? [] : [about]),
  ...reach,
]

const MOST_TOLD = 100

/** Something is wrong that the answer has not told of. */
const isNews = ({ exitCode, text }: Ended, answer: string): boolean =>
  exitCode === exitCodes.check &&
  text.split('\n').some(line => line.startsWith('  ') && !line.startsWith('  Next: ') && !answer.includes(line.trim()))

/** A command that found what it was to look for has not failed, even if that is bad news. */
const hasFailed = ({ exitCode }: Ended) => exitCode !== exitCodes.ok && exitCode !== exitCodes.check

/** What fails for one reason is said once. */
const said = (ended: readonly Ended[], { records }: Given): string =>
  ended
    .filter((one, at) => !hasFailed(one) || ended.findIndex(({ text }) => text === one.text) === at)
    .map(({ line, text }) => `$ ${line}\n${withCalls(text, records)}`)
    .join('\n\n')

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
