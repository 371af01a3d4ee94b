/** The log of a deployment: one JSON object a line. Anything that looks like a key or a secret is cut short. */
import { pino } from 'pino'
import type { Log, LogEntry } from '../market/log.ts'
import { sampled } from './log-sampling.ts'

export interface DeploymentLog {
  readonly log: Log
  /** Lines that came before wait for it, so that the ready line is the first. */
  open(): void
  /** Writes out what still waits. */
  flush(): void
}

const levels: Partial<Record<LogEntry['type'], 'warn' | 'error'>> = {
  warning: 'warn',
  cut_off: 'warn',
  error: 'error',
}

// Nobody logs them on purpose, but a client may put its key into a path, and an error may repeat what it was given.
const SECRET = /\b(svc_|whsec_)([\w+/-]{4})[\w+/=-]{8,}/g
const BEARER = /\b(bearer +)[\w.~+/=-]{8,}/gi

/** `fd`: 1 for stdout, 2 for stderr. */
export function deploymentLog(fd: 1 | 2): DeploymentLog {
  const out = pino.destination({ dest: fd, sync: false })
  out.on('error', () => {}) // whoever reads our output may stop reading
  let waiting: string[] | null = []
  const write = (line: string) => {
    if (waiting) waiting.push(line)
    else out.write(withoutSecrets(line))
  }
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: level => ({ level }) },
      redact: ['*.authorization', '*.cookie', '*.password', '*.secret', '*.token', 'mail'],
    },
    { write },
  )
  const { log, flush } = sampled(entry => logger[levels[entry.type] ?? 'info'](entry))
  return {
    log,
    open() {
      const past = waiting ?? []
      waiting = null
      past.forEach(write)
    },
    flush() {
      flush()
      out.flushSync()
    },
  }
}

const withoutSecrets = (line: string) => line.replace(SECRET, '$1$2…').replace(BEARER, '$1…')
