/** The log of the marketplace of `exec`, beside the output of the command: on stderr, in a file, or nowhere. */
import { createWriteStream, openSync } from 'node:fs'
import { UsageError } from '../config.ts'
import { entryLog } from './log-lines.ts'
import { createUi } from './ui.ts'

export interface ExecLogFlags {
  json?: boolean
  log?: string
}

/** Unless something is asked for, only errors are shown. */
export function execLog({ json = false, log: file }: ExecLogFlags) {
  const stream = file === undefined ? process.stderr : fileStream(file)
  const ui = createUi(stream as NodeJS.WriteStream)
  const isWanted = json || file !== undefined
  return {
    ...entryLog(ui, { json: isWanted, level: isWanted ? 'info' : 'error' }),
    /** Resolves once everything is written. */
    end: () => new Promise<void>(resolve => (file === undefined ? resolve() : stream.end(resolve))),
  }
}

function fileStream(path: string) {
  try {
    return createWriteStream(path, { fd: openSync(path, 'w', 0o600) }).on('error', () => {})
  } catch (error) {
    throw new UsageError(`--log ${path} can't be written: ${(error as Error).message}`)
  }
}
