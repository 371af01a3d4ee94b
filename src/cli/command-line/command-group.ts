/** Runs a user's command in a process group of its own. When the command or this process ends, the whole group ends. Source: A-248. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { exitCodes } from '../exit-codes.ts'
import { write } from '../output/ui.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** How long the rest of a group may take to end by itself. */
const GRACE_MS = 2_000
const LOOK_MS = 20
// What shells answer.
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
const BY_SIGNAL = 128

export interface GroupOptions {
  env: NodeJS.ProcessEnv
  /** A folder to remove if this process is killed. */
  folder: string
}

/**
 * Runs a command on this process's own streams; resolves to its exit code. SIGINT, SIGTERM and SIGHUP go to its whole
 * group, and a second one kills that. Whatever the command has started and left running is ended with it.
 */
export async function runInGroup([program = '', ...args]: readonly string[], { env, folder }: GroupOptions) {
  let group: number | undefined
  let isAsked = false
  const handOn = (signal: NodeJS.Signals) => {
    if (group !== undefined) tell(group, isAsked ? 'SIGKILL' : signal)
    isAsked = true
  }
  // Before the command is there, as it may be quick to ask for one.
  for (const signal of SIGNALS) process.on(signal, handOn)
  try {
    const child = spawn(program, args, { env, stdio: 'inherit', detached: true })
    group = child.pid
    if (group === undefined) return await faultOf(child, program, env.PATH)
    const guard = startGuard(group, folder)
    const code = await ended(child)
    await endGroup(group)
    guard.stdin!.end('over\n')
    return code
  } finally {
    for (const signal of SIGNALS) process.off(signal, handOn)
  }
}

const ended = (child: ChildProcess) =>
  new Promise<number>(resolve => {
    child.once('exit', (code, signal) => resolve(code ?? BY_SIGNAL + constants.signals[signal!]))
  })

/** The command could not be started. */
const faultOf = (child: ChildProcess, program: string, path = '') =>
  new Promise<number>(resolve => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'EACCES' && isNowhere(program, path) ? 'ENOENT' : error.code
      const words = error.message.replace(/^spawn /, '').replace(/EACCES$/, `${code}`)
      write(process.stderr, `${words}: is the command spelled right, and installed?\n`)
      resolve(code === 'ENOENT' ? NOT_FOUND : code === 'EACCES' ? NOT_EXECUTABLE : exitCodes.failed)
    })
  })

/** The system says EACCES too where it may not look into a folder of the PATH, and finds the command in no other. To a shell it is not there. */
const isNowhere = (program: string, path: string) =>
  !program.includes('/') && !path.split(':').some(folder => isFile(join(folder, program)))

const isFile = (path: string) => existsSync(path) && statSync(path).isFile()

/** Whether anybody was there to be told. */
function tell(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

async function endGroup(group: number): Promise<void> {
  if (!tell(group, 'SIGTERM')) return
  for (let waited = 0; waited < GRACE_MS && tell(group, 0); waited += LOOK_MS) {
    await new Promise(resolve => setTimeout(resolve, LOOK_MS))
  }
  tell(group, 'SIGKILL')
}

/** A small shell that outlives this process if that is killed, as the end of its stdin tells it, and ends the group then. */
function startGuard(group: number, folder: string): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'sh', String(group), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.on('error', () => {}) // a machine without a shell has no guard
  guard.stdin!.on('error', () => {})
  guard.unref()
  return guard
}

const GUARD = 'read -r over && exit; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"; rm -rf -- "$2"'
