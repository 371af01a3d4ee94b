/** Looks at the marketplace that commands would use: whether it answers, which it is, its clock, its version, the key. */
import { COMMAND_LINE } from '../../api/command-line.ts'
import { durations } from '../../api/limits.ts'
import { Transport, UnreachableError } from '../../client/transport.ts'
import { type Client, clientOn } from '../../client/typed-client.ts'
import { version } from '../../settings/config.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { type Target, versionWords } from '../connection/target.ts'
import { plain } from '../output/ui.ts'
import { failed, ok, type SetupFinding, warning } from './finding.ts'

const PATIENCE_MS = 10_000
/** Beyond this, half of the tolerance of signatures is gone by the way of a request alone. */
const DRIFT_MS = 60_000

export interface Seen {
  findings: SetupFinding[]
  /** It is there, and the one that the key is for. */
  isIt: boolean
  /** null: it is not, or takes no work. */
  client: Client | null
}

/** `start`: what starts it, if it is one of this folder. */
export async function marketplaceFindings(found: Target, realNow: () => number, start?: string): Promise<Seen> {
  const { url, key, isDev, urlFrom, madeFor, session } = found
  const transport = new Transport({ baseUrl: url, apiKey: key, userAgent: COMMAND_LINE + version })
  const before = realNow()
  let health: Response
  try {
    health = await transport.send('GET', '/healthz', { signal: AbortSignal.timeout(PATIENCE_MS) })
    await health.arrayBuffer()
  } catch (error) {
    const why = error instanceof UnreachableError ? error.message : `${url} does not answer within 10 s`
    const fix = start ? `Start it: ${start}` : `${urlFrom} names this address. Is the marketplace running there?`
    return { findings: [failed('marketplace', why, fix)], isIt: false, client: null }
  }
  const after = realNow()
  const instance = health.headers.get('x-service-instance')
  if (instance === null) {
    const fix = `${urlFrom} names this address. Name another: --url, or MARKETPLACE_URL`
    return {
      findings: [failed('marketplace', `What answers at ${url} is no marketplace`, fix)],
      isIt: false,
      client: null,
    }
  }
  const clock = clockFinding(health.headers.get('date'), before, after)
  if (madeFor !== undefined && madeFor.instance !== instance) {
    const fix = isDev
      ? `Start the one of this folder: ${nextSteps.startDev()}`
      : `Sign in to this one: ${nextSteps.signIn(url)}`
    const other = failed('marketplace', `The marketplace at ${url} is another than ${found.from} is for`, fix)
    return { findings: [other, clock], isIt: false, client: null }
  }
  const there = [
    ok('marketplace', `The marketplace at ${url} answers`),
    clock,
    versionFinding(health.headers, isDev, start),
  ]
  const unready = await readinessFinding(transport)
  if (unready) return { findings: [...there, unready], isIt: true, client: null }
  transport.credentials.session = session?.cookie
  const client = clientOn(transport)
  return { findings: [...there, ...(await keyFinding(client, found))], isIt: true, client }
}

/** Without its database it can tell nothing of keys, accounts and agents. */
async function readinessFinding(transport: Transport): Promise<SetupFinding | null> {
  const reply = await transport.send('GET', '/readyz', {})
  const words = (await reply.text()).slice(0, 100)
  if (reply.ok) return null
  const fix = 'Its operator: look at its log, and whether its database runs and takes writes'
  return failed('ready', `It takes no work (${reply.status} of /readyz): ${plain(words)}`, fix)
}

/**
 * The header has whole seconds, and was written between the two times.
 * @internal Tests its bounds.
 */
export function clockFinding(header: string | null, before: number, after: number): SetupFinding {
  const theirs = Date.parse(header ?? '')
  if (Number.isNaN(theirs))
    return warning('clock', 'The marketplace does not say its time', 'Is there a proxy that drops the Date header?')
  const off = theirs + 1000 < before ? before - theirs - 1000 : theirs > after ? after - theirs : 0
  const words = `${Math.abs(off / 1000).toFixed(0)} s ${off > 0 ? 'ahead of' : 'behind'} that of the marketplace`
  const fix = 'Let the system set the clock: timedatectl set-ntp true'
  if (Math.abs(off) > durations.signatureToleranceMs)
    return failed('clock', `This clock is ${words}: signatures are refused`, fix)
  if (Math.abs(off) > DRIFT_MS) return warning('clock', `This clock is ${words}`, fix)
  return ok('clock', 'This clock agrees with that of the marketplace')
}

function versionFinding(headers: Headers, isDev: boolean, start?: string): SetupFinding {
  const theirs = headers.get('x-service-version')
  if (theirs === version) return ok('version', `Both are version ${version}`)
  if (theirs === null)
    return warning('version', 'The marketplace does not say its version', 'Is there a proxy in front?')
  if (isDev) return warning('version', versionWords(theirs)!, nextSteps.startDev())
  const isUpgraded = start !== undefined && theirs.localeCompare(version, 'en', { numeric: true }) < 0
  const fix = isUpgraded ? `End it and start it again: ${start}` : `npm install agent-marketplace@${plain(theirs)}`
  return warning('version', `This is version ${version}, the marketplace is ${plain(theirs)}`, fix)
}

async function keyFinding(client: Client, found: Target): Promise<SetupFinding[]> {
  const { key, from, session } = found
  if (!key && !session) {
    return [
      warning(
        'key',
        'No key is given',
        `Give one by --key or MARKETPLACE_KEY, or sign in: ${nextSteps.signIn(found.url)}`,
      ),
    ]
  }
  const { status, data } = await client.request<{ user: { email: string } }>('GET', '/api/auth/me', {
    by: key ? 'key' : 'session',
  })
  if (data) return [ok('key', `${key ? `${from} is` : 'This session is'} of ${plain(data.user.email)}`)]
  return [
    failed('key', `The marketplace refuses ${from} (${status})`, `Sign in instead: ${nextSteps.signIn(found.url)}`),
  ]
}
