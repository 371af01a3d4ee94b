/** The blocks of code of a page, to be run as they are printed. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { COMMAND, type typeOnTerminal } from '../cli/program.ts'
import { PATIENCE_MS } from '../support/patience.ts'

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

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Makes a folder like that of somebody who has installed the package. Returns the environment of a shell in it, in which
 * `marketplace`, `npx marketplace` and `npx agent-marketplace` are the built program.
 */
export function installed(folder: string): NodeJS.ProcessEnv {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'agent-marketplace'))
  const bin = join(folder, 'node_modules', '.bin')
  mkdirSync(bin)
  const script = (name: string, text: string) => writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  script('marketplace', `exec ${COMMAND} "$@"`)
  script('npx', `case $1 in agent-marketplace | marketplace) shift ;; *) exit 64 ;; esac\nexec ${COMMAND} "$@"`)
  const { PATH, HOME } = process.env
  return { PATH: `${bin}:${PATH}`, HOME, NO_COLOR: '1', MARKETPLACE_PORT: '0' }
}

/** Lines of a terminal may be narrower than those of a page. */
export const unwrapped = (text: string) => stripVTControlCharacters(text).replace(/\s+/g, ' ')

/** Waits until a terminal shows some words. Throws what it shows if its command ends before. */
export async function shows(terminal: ReturnType<typeof typeOnTerminal>, words: string): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  while (!unwrapped(terminal.shown()).includes(words)) {
    const over = await Promise.race([terminal.ended, new Promise(resolve => setTimeout(resolve, 20, 'on'))])
    if (over !== 'on') throw new Error(`It ended before it showed "${words}": ${terminal.shown()}`)
    if (patience.aborted) throw new Error(`It does not show "${words}", but: ${terminal.shown()}`)
  }
}
