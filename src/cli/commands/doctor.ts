/** `marketplace doctor`: looks at what commonly goes wrong on a machine, and says what helps. */

import type { Client } from '../../client/typed-client.ts'
import { environment, readSettings, type Settings, UsageError } from '../../settings/config.ts'
import { CREDENTIALS_FILE, storedDev } from '../connection/dev-folder.ts'
import { reachTo } from '../connection/diagnosis.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { locate, type Target } from '../connection/target.ts'

import { addressFindings, type KnownAgent, secretFinding, testFindings } from '../doctor/agent.ts'
import { deploymentFindings, deploymentHere, secondFactorFindings, urlOf } from '../doctor/deployment.ts'
import { failed, ok, type SetupFinding, warning } from '../doctor/finding.ts'
import {
  containerFinding,
  gitFindings,
  inContainer,
  lockFinding,
  nodeFinding,
  portFinding,
  rightsFindings,
  secretEnv,
} from '../doctor/machine.ts'
import { marketplaceFindings } from '../doctor/marketplace.ts'
import { agentCalled } from '../endpoint/find-agent.ts'
import { exitCodes } from '../exit-codes.ts'
import { type AnswerFlags, type CommandOutput, withOutput } from '../output/output.ts'
import { plain } from '../output/ui.ts'

export interface DoctorFlags extends AnswerFlags {
  url?: string
  key?: string
  as?: string
  agent?: string
  fix?: boolean
}

/** Exits with 3 if something is wrong. */
export const doctor = (flags: DoctorFlags) =>
  withOutput(flags, async output => {
    const findings = await examine(flags)
    const mended = flags.fix ? mend(findings) : new Set<SetupFinding>()
    const isWell = findings.every(finding => finding.level !== 'failed' || mended.has(finding))
    const told = findings.map(({ mend: _, ...finding }, at) => ({ ...finding, mended: mended.has(findings[at]!) }))
    output.answer({ ok: isWell, findings: told }, () => show(output, findings, mended))
    return isWell ? exitCodes.ok : exitCodes.check
  })

async function examine(flags: DoctorFlags): Promise<SetupFinding[]> {
  const node = nodeFinding(process.versions.node, Date.now())
  const dev = storedDev()
  const settings = await settingsOf(dev !== undefined)
  const found = placeOf(flags, settings)
  if ('check' in found) return [node, found, ...(await folderFindings(settings, dev, null)), ...secretFindings([])]
  const { findings, isIt, client } = await marketplaceFindings(found, Date.now, startOf(found, settings))
  return [
    node,
    ...findings,
    ...(!isIt && found.urlFrom !== OF_DEPLOYMENT ? containerFinding(inContainer(), found.url) : []),
    ...(await folderFindings(settings, dev, isIt ? found : null)),
    ...secretFindings((found.isDev && dev?.agents) || []),
    ...(client && 'deployment' in settings && settings.deployment
      ? await secondFactorFindings(client, found.url, settings.deployment.adminTotp === 'required')
      : []),
    ...(client && flags.agent !== undefined ? await agentFindings({ client, found }, flags.agent) : []),
  ]
}

/** What this folder says of a dev, and of a deployment if it is one's. */
interface FolderSettings {
  dev: Settings
  deployment: Settings | undefined
}

async function settingsOf(hasDev: boolean): Promise<FolderSettings | SetupFinding> {
  try {
    const deployment = await deploymentHere(hasDev)
    // What a deployment may be told, such as to listen for others, is refused of a dev.
    return { deployment, dev: deployment && !hasDev ? deployment : readSettings('dev', {}) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return failed('settings', error.message, 'Correct it in the environment, in .env or in marketplace.json')
  }
}

/** `found`: what commands here use, if it answers. */
async function folderFindings(
  settings: FolderSettings | SetupFinding,
  dev: ReturnType<typeof storedDev>,
  found: Target | null,
) {
  const git = gitFindings(CREDENTIALS_FILE)
  if ('check' in settings) return [settings, ...rightsFindings([CREDENTIALS_FILE, ...secretEnv()]), ...git]
  const { deployment } = settings
  if (deployment) {
    const kept = dev ? rightsFindings([CREDENTIALS_FILE]) : []
    return [...(await deploymentFindings(deployment, Date.now())), ...kept, ...git]
  }
  const { host, port, db } = settings.dev
  // A server whose database was named by a flag leaves nothing in its folder.
  const isServed = !dev && found?.isLocal === true && Number(new URL(found.url).port) === port
  const database = db.postgres || isServed ? [] : [await lockFinding(db.file, found?.isDev ?? false)]
  return [
    isServed
      ? ok('port', `Port ${port} is that of the marketplace at ${found.url}`)
      : await portFinding(host, port, dev?.instance),
    ...database,
    ...rightsFindings([CREDENTIALS_FILE, ...secretEnv()]),
    ...git,
  ]
}

function secretFindings(agents: readonly KnownAgent[]): SetupFinding[] {
  const { MARKETPLACE_WEBHOOK_SECRET: secret, MARKETPLACE_AGENT_ID: agentId } = environment()
  return secret ? [secretFinding(secret, agents, agentId)] : []
}

async function agentFindings(at: { client: Client; found: Target }, name: string) {
  const { client, found } = at
  const agent = await agentCalled(at, name)
  if (!('webhookUrl' in agent)) throw new UsageError(`--agent takes an agent of your own, and ${name} is another's.`)
  return [...(await addressFindings(agent, found)), ...(await testFindings(client, agent, reachTo(found)))]
}

/** Returns a finding if no marketplace is named anywhere. What a flag says wrongly is an error. */
function placeOf(flags: DoctorFlags, settings: FolderSettings | SetupFinding): Target | SetupFinding {
  const here = 'deployment' in settings && settings.deployment
  try {
    return locate(flags, 'builder')
  } catch (error) {
    if (!(error instanceof UsageError) || flags.url || flags.key || flags.as || flags.agent) throw error
    if (here) return { ...locate({ ...flags, url: urlOf(here) }, 'admin'), urlFrom: OF_DEPLOYMENT }
    return warning('marketplace', 'No marketplace is named', error.message)
  }
}

function startOf({ isDev, isLocal, url }: Target, settings: FolderSettings | SetupFinding): string | undefined {
  if (isDev) return nextSteps.startDev()
  const port = 'deployment' in settings ? settings.deployment?.port : undefined
  return isLocal && port === Number(new URL(url).port) ? nextSteps.serve() : undefined
}

const OF_DEPLOYMENT = 'the deployment of this folder'

function mend(findings: readonly SetupFinding[]): Set<SetupFinding> {
  const mended = findings.filter(finding => finding.mend)
  for (const finding of mended) finding.mend!()
  return new Set(mended)
}

function show(
  { out, notes }: CommandOutput,
  findings: readonly SetupFinding[],
  mended: ReadonlySet<SetupFinding>,
): void {
  const { colour } = out
  const marks = { ok: colour.green('✔'), warning: colour.yellow('!'), failed: colour.red('✖') }
  for (const finding of findings) {
    const { check, level, message, fix } = finding
    const isMended = mended.has(finding)
    out.line(`${isMended ? marks.ok : marks[level]} ${check.padEnd(12)} ${plain(message)}${isMended ? ': mended' : ''}`)
    if (fix !== undefined && !isMended) for (const line of fix.split('\n')) out.line(`  ${' '.repeat(12)} ${line}`)
  }
  if (mended.size === 0 && findings.some(finding => finding.mend)) notes.line(`${nextSteps.mend()} mends what it can.`)
}
