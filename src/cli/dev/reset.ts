/** `marketplace dev --reset`: deletes what a dev has kept, so that the next start is a first one. */
import { existsSync, rmSync } from 'node:fs'
import { UsageError } from '../../settings/config.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { withDiskReason } from '../output/disk-faults.ts'
import { canAsk } from '../output/output.ts'
import { askYes } from '../output/prompts.ts'
import { createUi } from '../output/ui.ts'
import { runningDev } from './attach.ts'
import { credentialsPath, readCredentials, type StateFolder } from './state-folder.ts'

const BESIDE = ['', '.journal', '.journal.sealed', '.key', '.files', '.lock']

/** Asks first, unless `yes`. Does nothing if nothing is kept. Never deletes a database that no dev has made. */
export async function reset(state: StateFolder, yes: boolean): Promise<void> {
  const { file } = state
  const credentials = credentialsPath(state)
  if (file === null || credentials === null) throw new UsageError(`--reset deletes files, and ${state.db} is none.`)
  const paths = [...BESIDE.map(end => file + end), credentials].filter(path => existsSync(path))
  if (paths.length === 0) return
  if (!readCredentials(state))
    throw new UsageError(
      `No dev has kept its credentials for ${file}, so --reset does not touch it. Delete it by hand.`,
    )
  const running = await runningDev(state)
  if (running) {
    const message = `The dev of this folder is running at ${running.url}: end it first, by Ctrl-C`
    throw new Fault(message, { code: exitCodes.failed })
  }
  const words = `--reset deletes all accounts, keys, agents, tasks and money of this dev: ${paths.join(', ')}`
  if (!yes && !canAsk()) throw new UsageError(`${words}. Add --yes if that is meant.`)
  if (yes) return removeAll(paths)
  createUi(process.stderr).line(`${words}.`)
  if (!(await askYes('Delete them?'))) throw new Fault('Nothing was deleted', { code: exitCodes.failed })
  removeAll(paths)
}

const removeAll = (paths: readonly string[]) => paths.forEach(remove)

function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    throw withDiskReason(error as Error, `${path} can't be deleted`, `${nextSteps.startEphemeral()} needs no reset.`)
  }
}
