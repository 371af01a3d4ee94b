/** The log of the marketplace of `exec`, beside the output of the command: on stderr, in a file, or nowhere. */
import { createWriteStream, openSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { UsageError } from '../../settings/config.ts'
import { diskReason } from '../output/disk-faults.ts'
import { createUi } from '../output/ui.ts'
import { entryLog } from './lines.ts'

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
    async end() {
      if (file === undefined) return
      const written = finished(stream.end())
      await written.catch(error => process.stderr.write(`--log ${file} is not whole: ${diskReason(error)}.\n`))
    },
  }
}

function fileStream(path: string) {
  try {
    return createWriteStream(path, { fd: openSync(path, 'w', 0o600) }).on('error', () => {})
  } catch (error) {
    throw new UsageError(`--log ${path} can't be written: ${(error as Error).message}`)
  }
}
