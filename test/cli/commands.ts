/** Processes that run commands, as many as are needed at once. They end with the process of the tests. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SHORT_LIVED } from '../support/short-lived.ts'
import type { Ended } from './program.ts'

export interface Command {
  args: readonly string[]
  cwd: string
  env: NodeJS.ProcessEnv
  input: string
}

const PATH = fileURLToPath(new URL('../../test/cli/command-process.js', import.meta.url))
const idle: ChildProcess[] = []

/** Runs one command of the built program, in a process that has run others. */
export async function runCommand(command: Command): Promise<Ended> {
  const child = idle.pop() ?? (await begin(command))
  hold(child)
  child.send(command)
  const ended = await nextOf(child)
  if (child.connected && ended.code !== null) release(child)
  else child.kill('SIGKILL')
  return ended
}

/** What it says next, or that it has ended. Leaves no listener behind, as one process runs many commands. */
function nextOf(child: ChildProcess): Promise<Ended> {
  return new Promise(resolve => {
    const onMessage = (ended: unknown) => {
      child.off('close', onClose)
      resolve(ended as Ended)
    }
    const onClose = (code: number | null) => {
      child.off('message', onMessage)
      resolve(gone(code))
    }
    child.once('message', onMessage).once('close', onClose)
  })
}

const gone = (code: number | null): Ended => ({ code, out: '', err: `the process of the commands ended with ${code}` })

async function begin({ cwd, env }: Command): Promise<ChildProcess> {
  const child = fork(PATH, { cwd, env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [...SHORT_LIVED] })
  await Promise.race([
    once(child, 'message'),
    once(child, 'close').then(([code]) => Promise.reject(new Error(gone(code).err))),
  ])
  return child
}

/** An idle one keeps nobody waiting for its end. */
function release(child: ChildProcess): void {
  child.unref()
  child.channel!.unref()
  idle.push(child)
}

function hold(child: ChildProcess): void {
  child.ref()
  child.channel!.ref()
}
