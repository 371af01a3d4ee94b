/** `marketplace mcp`: tools for coding agents, over stdin and stdout. */
import type { CommandTable } from '../command-line/command.ts'
import type { ConnectionFlags } from '../connection/connection.ts'
import { exitCodes } from '../exit-codes.ts'

export interface McpFlags extends Omit<ConnectionFlags, 'json'> {
  readOnly?: boolean
  start?: string
  agentUrl?: string
  secretFile?: string
}

export async function mcp(
  { readOnly = false, start, agentUrl, secretFile, ...reach }: McpFlags,
  { chapters }: CommandTable,
): Promise<number> {
  const { serveTools } = await import('../mcp/server.ts')
  await serveTools({
    readOnly,
    records: chapters.flatMap(([, records]) => records),
    reach: flagsOf({ ...reach }),
    agent: flagsOf({ start, url: agentUrl, 'secret-file': secretFile }),
    secret: flagsOf({ 'secret-file': secretFile }),
  })
  return exitCodes.ok
}

const flagsOf = (values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]))
