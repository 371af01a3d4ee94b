/** The built program, run as people run it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { PATIENCE_MS } from '../support/patience.ts'
import { shellLine } from '../support/shell-line.ts'
import { SHORT_LIVED } from '../support/short-lived.ts'
import { runCommand } from './commands.ts'

export const PROGRAM = fileURLToPath(new URL('../../bin/marketplace.js', import.meta.url))

export interface Ended {
  code: number | null
  out: string
  err: string
}

/** Nothing of the machine's own settings reaches the program. `CI`, which CI services set, would stop its spinners. */
const cleanEnv = (more: NodeJS.ProcessEnv) => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:MARKETPLACE_|AWS_|DATABASE_URL$|FORCE_COLOR$|npm_|CI$)/.test(name),
  )
  return { ...Object.fromEntries(kept), NO_COLOR: '1', ...more }
}

const envIn = (cwd: string, more: NodeJS.ProcessEnv) => cleanEnv({ XDG_CONFIG_HOME: join(cwd, 'config'), ...more })

// A test that fails must not leave its server behind, and wait for it.
const running = new Set<ChildProcess>()

export function start(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
  input = '',
  nodeFlags = SHORT_LIVED,
) {
  const started = startOpen(args, cwd, env, nodeFlags)
  started.child.stdin.end(input)
  return started
}

/** Its stdin stays open. */
export function startOpen(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
  nodeFlags: readonly string[] = SHORT_LIVED,
) {
  const child = spawn(process.execPath, [...nodeFlags, PROGRAM, ...args], {
    cwd,
    env: envIn(cwd, env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  return { child, ended: collect(child), firstLine: firstLine(child) }
}

/** A dev that keeps its state in the folder, for commands that find it there. */
export async function startDev(folder: string, env: NodeJS.ProcessEnv = {}, args: readonly string[] = []) {
  const { child, ended, firstLine } = start(['dev', '--json', '--port', '0', ...args], folder, env)
  const ready = JSON.parse(await firstLine)
  const stop = async () => {
    child.kill('SIGTERM')
    return ended
  }
  return { ready, stop }
}

/**
 * A command of the shell on a terminal of its own, as people have it. The shell is one and the same everywhere: which one
 * a machine has decides whether Ctrl-C ends the shell as well.
 */
function onTerminal(command: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: cleanEnv({ SHELL: '/bin/sh', TERM: 'xterm', XDG_CONFIG_HOME: join(cwd, 'config'), ...env }),
  })
  child.once('error', () => {
    throw new Error('Tests that need a terminal make one with `script`: install util-linux (Debian: bsdutils).')
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

/** The program on a terminal: all that it shows, colours included, as it comes. */
export const startOnTerminal = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) =>
  typeOnTerminal([`exec ${COMMAND}`, ...args].join(' '), cwd, env)

/** The built program as a command of the shell. */
export const COMMAND = shellLine(process.execPath, ...SHORT_LIVED, PROGRAM)

/** A command of the shell on a terminal: all that it shows. */
export function typeOnTerminal(command: string, cwd: string, env: NodeJS.ProcessEnv = {}) {
  const child = onTerminal(command, cwd, env)
  let shown = ''
  child.stdout.on('data', chunk => (shown += chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    ended,
    shown: () => shown,
    /** Closes the terminal, as its window does. */
    close: () => void child.kill('SIGKILL'),
    /** Presses keys. */
    press: (keys: string) => void child.stdin.write(keys),
    /** Ctrl-C. */
    interrupt: () => void child.stdin.write('\x03'),
  }
}

/** What a terminal shows of a command; each text is typed once its question is there. Ends with the command. */
export async function typeInto(
  command: string,
  cwd: string,
  talk: readonly (readonly [question: string, typed: string])[],
) {
  const child = onTerminal(command, cwd, {})
  let shown = ''
  let seen = 0
  const left = [...talk]
  // A question that does not come is seen by what is shown.
  const impatience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  child.stdout.on('data', chunk => {
    shown += stripVTControlCharacters(String(chunk))
    const [next] = left
    const at = next ? shown.indexOf(next[0], seen) : -1
    if (!next || at < 0) return
    seen = shown.length
    left.shift()
    impatience.refresh()
    child.stdin.write(next[1])
  })
  await once(child, 'close')
  clearTimeout(impatience)
  return shown
}

/** What a command prints on stdout, as JSON. Throws what it said if it says something else. */
export async function answerOf(args: readonly string[], cwd: string, env?: NodeJS.ProcessEnv) {
  const { code, out, err } = await run([...args, '--json'], cwd, env)
  try {
    return { code, err, ...JSON.parse(out) }
  } catch {
    throw new Error(`${args.join(' ')} ended with ${code}: ${out}${err}`)
  }
}

/** One command, from its start as a process to its end. */
export const runAlone = (
  args: readonly string[],
  cwd: string,
  env?: NodeJS.ProcessEnv,
  input?: string,
): Promise<Ended> => start(args, cwd, env, input).ended

/** One command, in a process that has run others. What goes on until a signal, or is about Node itself, has one of its own. */
export const run = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}, input = ''): Promise<Ended> =>
  mayGoOn(args) || Object.keys(env).some(name => name.startsWith('NODE_'))
    ? runAlone(args, cwd, env, input)
    : runCommand({ args, cwd, env: envIn(cwd, env), input })

const ALONE = new Set(['dev', 'serve', 'exec'])
const ENDS = /^--(?:help|print-env|show-keys)$/
const mayGoOn = ([name = '', ...rest]: readonly string[]) =>
  ALONE.has(name) && (name === 'exec' || !rest.some(arg => ENDS.test(arg)))

/** A command that is refused before anything starts, whichever it is, in a process that has run others. Throws if it goes on. */
export const runRefused = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  Promise.race([
    runCommand({ args, cwd, env: envIn(cwd, env), input: '' }),
    wait(PATIENCE_MS, undefined, { ref: false }).then(() => {
      throw new Error(`It is not refused, but goes on: ${args.join(' ')}`)
    }),
  ])

async function collect(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout!.on('data', chunk => (out += chunk))
  child.stderr!.on('data', chunk => (err += chunk))
  const [code] = await once(child, 'close')
  return { code, out, err }
}

/** Rejects if the program ends without a word. */
function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! })
  const line = new Promise<string>((resolve, reject) => {
    lines.once('line', resolve).once('close', () => reject(new Error('the program said nothing')))
  })
  line.catch(() => {})
  return line
}

export function inFolder(test: (folder: string) => Promise<void>) {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'marketplace-cli-'))
    try {
      await test(folder)
    } finally {
      for (const child of running) child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
