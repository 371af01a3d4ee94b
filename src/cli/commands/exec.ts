/** `marketplace exec -- COMMAND`: an ephemeral marketplace around a command, such as the tests of an agent. */

import { createWriteStream, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { defaults, inheritedByOthers, readSettings, type Settings, UsageError } from '../../settings/config.ts'
import { withoutLoopbackProxy } from '../../sim/agents/started-agent.ts'
import type { Credentials } from '../../sim/seed.ts'
import { runInGroup } from '../command-line/command-group.ts'
import { typed } from '../connection/next-steps.ts'
import { agentEnvironment } from '../dev/environment.ts'
import { type AgentFlags, givenAgents } from '../dev/given-agents.ts'
import { startSimulator } from '../dev/simulator.ts'
import { stateFolderOf } from '../dev/state-folder.ts'
import { entryLog } from '../log/lines.ts'
import { diskReason } from '../output/disk-faults.ts'
import { createUi, write } from '../output/ui.ts'
export type ExecFlags = ExecLogFlags & Pick<AgentFlags, 'forwardTo' | 'agent'>

/** Resolves to the exit code of the command. */
export async function exec(command: readonly string[], flags: ExecFlags): Promise<number> {
  if (command.length === 0) throw new UsageError(`exec runs a command. Example: ${typed('exec -- npm test')}`)
  const agents = givenAgents(flags)
  const { log, open, end } = execLog(flags)
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-exec-'))
  try {
    const settings = settingsFor(folder)
    const given = { settings, state: stateFolderOf(settings.db, true), seed: undefined, agents }
    const sim = await startSimulator({ ...given, run: undefined, watch: [], log, debug: {} })
    try {
      open()
      sim.begin()
      const { market, url } = sim.marketplace
      const told = variablesOf({ url, instance: market.config.instanceId, ...sim.credentials })
      return await runInGroup(command, { env: withoutLoopbackProxy({ ...inheritedByOthers(), ...told }), folder })
    } finally {
      await sim.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await end()
  }
}

/** Nothing of the environment or of the folder changes it, so that a test finds the same marketplace everywhere. */
function settingsFor(filesFolder: string): Settings {
  const { host } = defaults
  const { db, payments, rateLimits } = defaults.dev
  const fixed = {
    host,
    port: '0',
    db,
    baseUrl: '',
    payments,
    rateLimits,
    console: 'on',
    trustProxy: '0',
    logLevel: 'info',
  }
  return { ...readSettings('dev', fixed, {}), filesFolder, bucket: undefined, dbLimit: undefined }
}

interface Told extends Credentials {
  url: string
  instance: string
}

/** The variables for the command: those that an agent gets, the key of each account, and all of it as JSON. */
function variablesOf(told: Told): Record<string, string> {
  const { accounts, agents } = told
  const own = agents.find(({ forwardTo }) => forwardTo !== undefined)
  return {
    ...agentEnvironment(told, own ?? agents[0]!),
    MARKETPLACE_BUYER_KEY: accounts.buyer.apiKey,
    MARKETPLACE_BUILDER_KEY: accounts.builder.apiKey,
    MARKETPLACE_ADMIN_KEY: accounts.admin.apiKey,
    MARKETPLACE_CREDENTIALS: JSON.stringify(told),
  }
}

interface ExecLogFlags {
  json?: boolean
  log?: string
}

/** Unless something is asked for, only errors are shown. */
function execLog({ json = false, log: file }: ExecLogFlags) {
  const stream = file === undefined ? process.stderr : fileStream(file)
  const ui = createUi(stream as NodeJS.WriteStream)
  const isWanted = json || file !== undefined
  return {
    ...entryLog(ui, { json: isWanted, level: isWanted ? 'info' : 'error' }),
    /** Resolves once everything is written. */
    async end() {
      if (file === undefined) return
      const written = finished(stream.end())
      await written.catch(error => write(process.stderr, `--log ${file} is not whole: ${diskReason(error)}.\n`))
    },
  }
}

function fileStream(path: string) {
  try {
    return createWriteStream(path, { fd: openSync(path, 'w', 0o600) }).on('error', () => {})
  } catch (error) {
    throw new UsageError(`--log ${path} can't be written: ${diskReason(error as Error)}.`)
  }
}
