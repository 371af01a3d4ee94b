/** What a server of a crash test has to say for itself: the errors of its log. */
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

interface Line {
  type?: string
  level?: string
  requestId?: string
  message?: string
  stack?: string
  method?: string
  path?: string
  status?: number
}

/** Adds to `errors` what the server logs as an error, and which requests it answered with 500, as they come. */
export function readErrors(child: ChildProcess, name: string, errors: string[]): void {
  createInterface({ input: child.stdout! }).on('line', text => {
    const line = parsed(text)
    const { type, level, requestId = '', message, stack, method, path, status } = line
    if (level === 'error' || type === 'error') errors.push(`${name} ${requestId}: ${stack ?? message}`)
    if (type === 'request' && status === 500) errors.push(`${name} ${requestId}: ${method} ${path} was answered 500`)
  })
}

/** Half a line is the last one of a server that was killed. */
function parsed(text: string): Line {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Runs a crash test; if it throws, what the servers have logged is shown beside what went wrong. */
export async function showingFaults<Result>(errors: readonly string[], test: () => Promise<Result>): Promise<Result> {
  try {
    return await test()
  } catch (error) {
    if (errors.length > 0) console.error(`The servers say:\n${errors.join('\n')}`)
    throw error
  }
}
