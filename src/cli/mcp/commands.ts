/**
 * How the tools run their commands. Those that only look take turns in a thread, where each costs a tenth of a start of the program. Others
 * are processes: they start agents, take long, and end when they are told to.
 */
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { Worker } from 'node:worker_threads'
import { execa } from 'execa'
import { fit } from '../output/ui.ts'

export interface Ended {
  readonly line: string
  readonly text: string
  readonly exitCode: number | null
}

/** A run of all checks has its time too. */
const MOST_MS = 10 * 60_000
const MOST_LOOK_MS = 30_000
const MOST_BYTES = 4 * 1024 * 1024

/** Where a person would see a stack. */
const DIED = 'The command ended without a word. It says more in a shell.'

const RUNNER = new URL('./command-runner.js', import.meta.url)

/** A program of jq says nothing to who reads the command line. */
const shownWord = (word: string) =>
  word.startsWith('--jq=') ? '--jq=…' : /\s/.test(word) ? JSON.stringify(word) : word

/** Colours are for people. What others have written may be in it, and steers nobody's terminal. */
const ended = (args: readonly string[], text: string, exitCode: number | null): Ended => ({
  line: fit(['marketplace', ...args.map(shownWord)].join(' ')),
  text: fit(stripVTControlCharacters(text), { whole: true }).trimEnd(),
  exitCode,
})

/** How long it takes, for people: nothing at the end. `conformance` tells it in lines of this kind. */
const PROGRESS = /^· .*\n+/gm

/** `onLine` hears the last line so far. */
export async function runAsProcess(
  args: readonly string[],
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<Ended> {
  const running = execa(process.execPath, [...process.execArgv, fileURLToPath(RUNNER), ...args], {
    ...{ all: true, reject: false, stdin: 'ignore', timeout: MOST_MS, maxBuffer: MOST_BYTES, cancelSignal: signal },
  })
  running.all.on('data', (chunk: Buffer) => {
    const line = chunk.toString().trimEnd().split('\n').at(-1)
    if (line) onLine(fit(stripVTControlCharacters(line)))
  })
  const { all, exitCode } = await running
  return ended(args, all.replace(PROGRESS, ''), exitCode ?? null)
}

/** Commands in one thread, one at a time. It is started before it is needed. */
export class LookingThread {
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor() {
    this.#start()
  }

  run(args: readonly string[], signal: AbortSignal): Promise<Ended> {
    const next = this.#last.then(() => this.#perform(args, signal))
    this.#last = next
    return next
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    // It takes none of the options of the process, which may be those of V8.
    const worker = new Worker(RUNNER, { execArgv: [], stdin: false, stdout: true, stderr: true })
    worker
      .on('error', () => {})
      .once('exit', () => {
        if (this.#worker === worker) this.#worker = null
      })
    worker.unref()
    this.#worker = worker
    return worker
  }

  /** What takes too long, or is no longer wanted, ends with its thread. */
  async #perform(args: readonly string[], signal: AbortSignal): Promise<Ended> {
    if (signal.aborted) return ended(args, 'It was stopped.', null)
    const worker = this.#worker ?? this.#start()
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MOST_LOOK_MS)])
    const stop = () => void worker.terminate()
    limit.addEventListener('abort', stop, { once: true })
    try {
      return await new Promise(resolve => {
        const gone = () =>
          resolve(
            ended(args, limit.aborted ? `It was stopped: it takes ${MOST_LOOK_MS / 1000} s at most.` : DIED, null),
          )
        worker.once('exit', gone).once('message', ({ exitCode, text }: { exitCode: number; text: string }) => {
          worker.off('exit', gone)
          resolve(ended(args, text, exitCode))
        })
        worker.postMessage(args)
      })
    } finally {
      limit.removeEventListener('abort', stop)
    }
  }
}
