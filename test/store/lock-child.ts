/** Other processes that have, or want, the lock of a database: of this machine, of other containers, with and without the system's lock. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { loader, urlOf } from '../support/child-code.ts'

const source = (name: Loaded) => JSON.stringify(urlOf(`src/store/embedded/${name}.ts`))

export interface Where {
  /** In a process namespace of its own, as in a container. */
  contained?: boolean
  /** Without the command that asks the system for a lock. */
  withoutSystem?: boolean
}

const PROCESSES = ['--pid', '--fork', '--mount-proc']

/** A namespace of processes is made by root, or by anybody who is root in a namespace of users. */
const ways = [PROCESSES, ['--user', '--map-root-user', ...PROCESSES]]

/** The command that another is run under. Throws where the system lets nobody do so: then nothing is known of containers. */
function container(): string[] {
  const way = ways.find(options => spawnSync('unshare', [...options, 'true']).status === 0)
  if (way) return ['unshare', ...way, '--kill-child']
  throw new Error(
    'The tests of owners in other containers need a namespace of processes (unshare of util-linux), which this system refuses: ' +
      'run them as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or a container with --privileged).',
  )
}

export interface Child {
  process: ChildProcess
  /** The process itself, also inside a container, as this machine counts. */
  pid: number
  /** Lines that it has written. */
  said: string[]
  /** Resolves with the first line that says this. */
  until(word: string): Promise<string>
  signal(name: NodeJS.Signals): void
  ended: Promise<unknown>
}

type Loaded = 'lock' | 'database'

/** Arguments of a Node that runs `code`, where `m` is what the named file of the store exports. */
export const argumentsFor = (name: Loaded, code: string): string[] => {
  const script = `console.log('pid'); import(${source(name)}).then(async m => { ${code} }).catch(error => { console.log('error ' + error.message); process.exit(7) })`
  return [...loader, '-e', script]
}

export const child = async (name: Loaded, code: string, { contained, withoutSystem }: Where = {}): Promise<Child> => {
  const path = withoutSystem ? ['env', 'PATH=/nowhere'] : []
  const [program, ...args] = [...(contained ? container() : []), ...path, process.execPath, ...argumentsFor(name, code)]
  const started = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  const waiting: { word: string; resolve: (line: string) => void }[] = []
  let rest = ''
  started.stdout.on('data', data => {
    const lines = (rest + data).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      said.push(line)
      for (const { word, resolve } of waiting) if (line.includes(word)) resolve(line)
    }
  })
  const until = (word: string) =>
    new Promise<string>((resolve, reject) => {
      const found = said.find(line => line.includes(word))
      if (found) return resolve(found)
      waiting.push({ word, resolve })
      started.once('exit', code => reject(new Error(`ended with ${code} before it said ${word}: ${said.join(' / ')}`)))
    })
  await until('pid')
  const pid = contained ? childOf(started.pid!) : started.pid!
  return {
    process: started,
    pid,
    said,
    until,
    signal: name => process.kill(pid, name),
    ended: once(started, 'close'),
  }
}

const childOf = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
