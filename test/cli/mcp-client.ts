/** A client of others for `marketplace mcp`, with whatever it does by itself. */
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import { SHORT_LIVED } from '../support/short-lived.ts'
import { PROGRAM } from './program.ts'

export interface ToolAnswer {
  readonly text: string
  readonly isError: boolean
}

export async function connectIn(folder: string, ...flags: readonly string[]) {
  const client = new Client({ name: 'test', version: '1' })
  const { PATH, HOME } = process.env as Record<string, string>
  const env = { PATH: PATH!, HOME: HOME!, XDG_CONFIG_HOME: join(folder, 'config') }
  const args = [...SHORT_LIVED, PROGRAM, 'mcp', ...flags]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder, env }))
  return Object.assign(client, {
    /** Makes one call, and returns what it says. */
    async said(
      name: string,
      given: Readonly<Record<string, unknown>> = {},
      how: RequestOptions = {},
    ): Promise<ToolAnswer> {
      const { content, isError = false } = await client.callTool({ name, arguments: given }, undefined, how)
      const [{ text }] = content as [{ text: string }]
      return { text, isError: isError as boolean }
    },
  })
}

export type McpClient = Awaited<ReturnType<typeof connectIn>>

/** The calls that an answer advises to make, as it writes them: a tool and its input. */
export const adviceIn = (text: string) =>
  [...text.matchAll(/(?:^|[ `])([a-z_]+) (\{".*?\})(?=$|[ `.,])/gm)].map(
    ([, name, input]) => [name!, JSON.parse(input!) as Record<string, unknown>] as const,
  )
