/** What a client may read without a call: the way into the documentation, the log, and what went over the wire. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { ExchangeRecord } from '../../api/exchange-records.ts'
import { exitCodes } from '../exit-codes.ts'
import type { LookingThread } from './commands.ts'

const MOST_CHARACTERS = 100_000
const MOST_LISTED = 20
const PACKAGE = createRequire(import.meta.url).resolve('agent-marketplace/package.json')

export function registerResources(server: McpServer, thread: LookingThread, reach: readonly string[]): void {
  const never = new AbortController().signal
  const told = async ({ href: uri }: URL, ...args: readonly string[]) => {
    const { text, exitCode } = await thread.run([...args, ...reach], never)
    if (exitCode !== exitCodes.ok) throw new Error(text)
    return { contents: [{ uri, mimeType: 'text/plain', text: theEnd(text) }] }
  }
  const latest = async () => {
    const { text, exitCode } = await thread.run(
      ['exchanges', 'list', `--limit=${MOST_LISTED}`, '--json', ...reach],
      never,
    )
    if (exitCode !== exitCodes.ok) return { resources: [] }
    const { items }: { items: ExchangeRecord[] } = JSON.parse(text).data
    const resources = items.map(({ id, direction, status, at }) => ({
      ...{ uri: `marketplace://exchanges/${id}`, mimeType: 'text/plain' },
      name: `${id}: a ${direction}, ${status ?? 'no response'}, ${at}`,
    }))
    return { resources }
  }
  server.registerResource(
    'llms.txt',
    'marketplace://llms.txt',
    {
      description: 'One page for coding agents: an agent, its signatures, the judge, all pages.',
      mimeType: 'text/markdown',
    },
    async ({ href: uri }) => ({
      contents: [
        { uri, mimeType: 'text/markdown', text: await readFile(join(dirname(PACKAGE), 'docs', 'llms.txt'), 'utf8') },
      ],
    }),
  )
  server.registerResource(
    'log',
    'marketplace://log',
    { description: 'What has happened in this dev, up to now.', mimeType: 'text/plain' },
    uri => told(uri, 'logs'),
  )
  server.registerResource(
    'exchanges',
    'marketplace://exchanges',
    { description: 'The latest webhooks and callbacks of this dev.', mimeType: 'text/plain' },
    uri => told(uri, 'exchanges', 'list', '--limit=100'),
  )
  server.registerResource(
    'exchange',
    new ResourceTemplate('marketplace://exchanges/{id}', { list: latest }),
    { description: 'One webhook or callback, byte for byte.', mimeType: 'text/plain' },
    (uri, { id }) => told(uri, 'exchanges', 'show', idIn(id)),
  )
}

/** Nothing that would be a flag. */
function idIn(id: string | string[] | undefined): string {
  if (typeof id === 'string' && /^\w{1,100}$/.test(id)) return id
  throw new Error('An exchange is marketplace://exchanges/exchange_17 or the like.')
}

const theEnd = (text: string) =>
  text.length <= MOST_CHARACTERS ? text : `… only its end:\n${text.slice(-MOST_CHARACTERS).toWellFormed()}`
