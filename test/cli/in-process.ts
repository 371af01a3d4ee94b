/** The command line in the process of the test: no start of a program, which costs more than most commands. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'uvu'
import { main } from '../../src/cli/main.ts'
import { type Ended, startDev } from './program.ts'

// Whoever is started by npm advises npx.
delete process.env.npm_command

type Write = typeof process.stdout.write

/** Runs a command in the working folder, without a terminal. Only one at a time. */
export async function runHere(...args: readonly string[]): Promise<Ended> {
  const { stdout, stderr } = process
  const writers: [NodeJS.WriteStream, Write][] = [
    [stdout, stdout.write],
    [stderr, stderr.write],
  ]
  const said = ['', '']
  for (const [at, [stream]] of writers.entries()) {
    stream.write = ((chunk: string | Uint8Array) => {
      said[at] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      return true
    }) as Write
  }
  try {
    const code = await main(args)
    return { code, out: said[0]!, err: said[1]! }
  } finally {
    for (const [stream, write] of writers) stream.write = write
  }
}

/** The envelope that a command prints with --json, and its exit code. */
export async function answerHere(...args: readonly string[]) {
  const { code, out, err } = await runHere(...args, '--json')
  try {
    return { ...JSON.parse(out), code }
  } catch {
    throw new Error(`${args.join(' ')} printed no JSON but ${out}${err}`)
  }
}

/** Before the tests of a file a dev starts in a folder of its own, which is worked in. Both end after them. */
export function enterDev(test: Test, env: NodeJS.ProcessEnv = {}): EnteredDev {
  const entered = {} as EnteredDev
  let leave = async () => {}
  test.before(async () => {
    const { leave: left, ...dev } = await enteredDev(env)
    Object.assign(entered, dev)
    leave = left
  })
  test.after(() => leave())
  return entered
}

/** Works in the folder of a new dev until `leave`, which ends both. */
export async function enteredDev(env: NodeJS.ProcessEnv = {}) {
  const before = process.cwd()
  const settings = process.env.XDG_CONFIG_HOME
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-cli-'))
  const dev = await startDev(folder, env)
  process.chdir(folder)
  process.env.XDG_CONFIG_HOME = join(folder, 'config')
  const leave = async () => {
    process.chdir(before)
    if (settings === undefined) delete process.env.XDG_CONFIG_HOME
    else process.env.XDG_CONFIG_HOME = settings
    await dev.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { folder, ...dev, leave }
}

type EnteredDev = Awaited<ReturnType<typeof startDev>> & { folder: string }
