/** The log of a deployment: one JSON object a line. Anything that looks like a key or a secret is cut short. */
import { pino } from 'pino'
import type { Log } from '../../market/log.ts'
import type { LogLevel } from '../../settings/config.ts'
import { write } from '../output/ui.ts'
import { levelOf } from './levels.ts'
import { sampled } from './sampling.ts'

export interface DeploymentLog {
  readonly log: Log
  /** `info` until it is said. */
  setLevel(level: LogLevel): void
  /** Earlier lines wait for this call, so that the ready line comes first. */
  open(): void
  /** Writes everything so far, in its order, and nothing later. Resolves once it is written, at the latest after five seconds. */
  end(): Promise<void>
}

// Who reads our output may have stopped reading.
const END_MS = 5000

/** `fd`: 1 for stdout, 2 for stderr. */
export function deploymentLog(fd: 1 | 2): DeploymentLog {
  const out = pino.destination({ dest: fd, sync: false })
  out.on('error', () => {}) // the reader of our output may close it
  let waiting: string[] | null = []
  let ended: Promise<void> | null = null
  const take = (line: string) => {
    if (ended) return
    if (waiting) waiting.push(line)
    else write(out, line, { json: true })
  }
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: level => ({ level }) },
      redact: ['*.authorization', '*.cookie', '*.password', '*.secret', '*.token', 'mail'],
    },
    { write: take },
  )
  const { log, flush } = sampled(entry => logger[levelOf(entry)](entry))
  return {
    log,
    setLevel(level) {
      logger.level = level
    },
    open() {
      const past = waiting ?? []
      waiting = null
      past.forEach(take)
    },
    end() {
      flush()
      // Not `flushSync`, which overtakes the lines that are being written.
      ended ??= new Promise(resolve => {
        const timer = setTimeout(resolve, END_MS)
        const done = () => {
          clearTimeout(timer)
          resolve()
        }
        out.once('close', done).once('error', done)
        out.end()
      })
      return ended
    },
  }
}
