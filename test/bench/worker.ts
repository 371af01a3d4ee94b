/** Processes of the benchmark, each with functions that the runner calls over the channel of a fork. */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// biome-ignore lint/suspicious/noExplicitAny: each side knows its own types
type Call = (input: any) => unknown

interface Question {
  id: number
  name: string
  input: unknown
}

interface Answer {
  id: number
  value?: unknown
  error?: string
}

export interface Worker {
  // biome-ignore lint/suspicious/noExplicitAny: the answer crosses a process
  ask(name: string, input?: unknown): Promise<any>
  end(): Promise<void>
}

/** In the forked process: answers what it is asked. */
export function answer(calls: Readonly<Record<string, Call>>): void {
  process.on('message', async ({ id, name, input }: Question) => {
    try {
      process.send!({ id, value: await calls[name]!(input) } satisfies Answer)
    } catch (error) {
      process.send!({ id, error: (error as Error).stack ?? String(error) } satisfies Answer)
    }
  })
  process.on('disconnect', () => process.exit())
}

/** Starts `file` of this folder as a process of its own. */
export function start(file: string): Worker {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  })
  const open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let count = 0
  child.on('message', ({ id, value, error }: Answer) => {
    const asked = open.get(id)
    open.delete(id)
    if (error === undefined) asked?.resolve(value)
    else asked?.reject(new Error(error))
  })
  child.on('exit', code => {
    for (const { reject } of open.values()) reject(new Error(`${file} ended with ${code}`))
  })
  return {
    ask: (name, input) =>
      new Promise((resolve, reject) => {
        const id = ++count
        open.set(id, { resolve, reject })
        child.send({ id, name, input } satisfies Question)
      }),
    end: () => ended(child),
  }
}

const ended = (child: ChildProcess) =>
  new Promise<void>(resolve => {
    if (child.exitCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.disconnect()
  })
