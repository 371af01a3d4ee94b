/** The agents of examples/, each in a process of its own, started by the command that its page has. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../src/sim/agents/free-port.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** A change of the source: a text that stands there once, and what takes its place. */
export type Change = readonly [right: string, wrong: string]

export interface Program {
  /** Of the agent: `express`. */
  name: string
  file: string
  /** As examples/README.md has it. */
  command: string
  port: number
  /** The folder of its source; unless given, that of the examples. */
  home?: string
}

/** The programs of the table in examples/README.md. */
export async function programs(): Promise<Program[]> {
  const page = readFileSync(join(examples, 'README.md'), 'utf8')
  const rows = [...page.matchAll(/^\| \[((\w+)-agent\.\w+)\]\(\1\) +\| `([^`]+)` +\|/gm)]
  return Promise.all(
    rows.map(async ([, file, name, command]) => ({
      ...{ name: name!, file: file!, command: command! },
      port: await freePort(),
    })),
  )
}

/** Whether this machine has what a command begins with. */
export const isThere = ({ command }: Pick<Program, 'command'>) =>
  spawnSync('sh', ['-c', `command -v ${command.split(' ')[0]}`]).status === 0

/** One agent, in a folder of its own. It is started anew with changes of its source, on the same port. */
export class RunningAgent {
  readonly #program: Program
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | null = null
  #said = ''

  /** `env`: what dev gives to an agent, and whatever changes of its source read. */
  constructor(program: Program, folder: string, env: NodeJS.ProcessEnv) {
    this.#program = program
    this.#folder = join(folder, program.name)
    this.#env = { ...inherited(), ...env, PORT: String(program.port) }
    mkdirSync(this.#folder)
    // Express is a dependency of the tests.
    symlinkSync(modules, join(this.#folder, 'node_modules'))
  }

  /** All that it has printed. */
  get said(): string {
    return this.#said
  }

  /** Starts it, and ends what runs of it already. */
  async start(changes: readonly Change[] = []): Promise<void> {
    await this.end()
    const { file, command, home = examples } = this.#program
    const path = join(this.#folder, file)
    copyFileSync(join(home, file), path)
    if (changes.length > 0) writeFileSync(path, changed(readFileSync(path, 'utf8'), changes))
    // `go run` has a child of its own.
    const child = spawn('sh', ['-c', `exec ${command}`], { cwd: this.#folder, env: this.#env, detached: true })
    this.#child = child
    const from = this.#said.length
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', chunk => {
          this.#said += chunk
          if (this.#said.includes('The agent listens', from)) resolve()
        })
      }
      child.once('close', () => reject(new Error(`${command} ended: ${this.#said.slice(from)}`)))
    })
  }

  async end(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    process.kill(-child.pid!, 'SIGKILL')
    await closed
  }
}

/** The machine's own, without settings of a marketplace. */
const inherited = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MARKETPLACE_')))

function changed(source: string, changes: readonly Change[]): string {
  return changes.reduce((text, [right, wrong]) => {
    const pieces = text.split(right)
    if (pieces.length !== 2) throw new Error(`“${right}” stands ${pieces.length - 1} times in the agent, not once.`)
    return pieces.join(wrong)
  }, source)
}
