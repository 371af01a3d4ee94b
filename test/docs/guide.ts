/** The blocks of code of a page, to be run as they are printed. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Block {
  language: string
  /** What stands behind the language: a file's name, or what the block is for. */
  name: string
  code: string
}

/** `path` from the root of the repository. */
export function blocksOf(path: string): Block[] {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language, name, code]) => ({
    language: language!,
    name: name ?? '',
    code: code!,
  }))
}

/** A port that nobody has; where a page prints one of its own, this machine may be using it. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
