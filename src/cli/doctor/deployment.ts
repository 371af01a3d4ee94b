/** Looks at the deployment of this folder: its port, its files, its proxy, its mail, its certificate, its administrators. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { connect } from 'node:tls'
import { durations } from '../../api/limits.ts'
import { Transport } from '../../client/transport.ts'
import type { Client } from '../../client/typed-client.ts'
import { readSettings, type Settings } from '../../settings/config.ts'
import { journalPath, sealedPath } from '../../store/embedded/journal.ts'
import { proveMail } from '../../world/mail.ts'
import { instanceAt } from '../connection/instance-check.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { plain } from '../output/ui.ts'
import { writeWhole } from '../output/whole-file.ts'
import { failed, ok, type SetupFinding, warning } from './finding.ts'
import { holderOf, lockFinding, portFinding, rightsFindings, secretEnv } from './machine.ts'

/**
 * The settings of the deployment whose data this folder has, or names; undefined if it is none. The port is that of the server
 * which has the database, as a flag may have given it. Throws a UsageError.
 */
export async function deploymentHere(hasDev: boolean): Promise<Settings | undefined> {
  const settings = readSettings('serve', {})
  const { file, postgres } = settings.db
  if (postgres) return hasDev ? undefined : settings
  if (!partsOf(file).some(existsSync)) return undefined
  const [, port] = /:([1-9]\d*)$/.exec((await holderOf(file)) ?? '') ?? []
  return port === undefined ? settings : { ...settings, port: Number(port) }
}

const partsOf = (file: string) => [file, journalPath(file), sealedPath(file)]

/** Its address on this machine: another may be a stranger's, who has written the files of this folder. */
export const urlOf = ({ port }: Settings) => `http://127.0.0.1:${port}`

export async function deploymentFindings(settings: Settings, now: number): Promise<SetupFinding[]> {
  const { db, filesFolder } = settings
  const { file } = db
  return [
    await servedPort(settings),
    ...(file === null ? [] : [await lockFinding(file, true), backupFinding(file, now)]),
    ...rightsFindings([...secretEnv(), ...(file === null ? [] : keptFor(file))]),
    ...(await diskFindings(file, filesFolder)),
    ...proxyFindings(settings),
    await mailFinding(settings),
    ...(await certificateFindings(settings.baseUrl, now)),
  ]
}

async function servedPort(settings: Settings): Promise<SetupFinding> {
  const { host, port, db } = settings
  const there = await instanceAt(new Transport({ baseUrl: `http://${host}:${port}` })).catch(() => null)
  const isOurs = db.file === null || (await holderOf(db.file))?.endsWith(`:${port}`)
  if (there !== null && isOurs) return ok('port', `Port ${port} is that of the deployment of this folder`)
  return portFinding(host, port, undefined, `Give serve another: ${nextSteps.serve()} --port 4100`)
}

/** What `db backup` leaves beside a database. */
interface LastBackup {
  at: string
  to: string
}
const backupPath = (file: string) => `${file}.backup`

/** A folder that takes no file has its backup all the same. */
export function noteBackup(file: string, to: string, at: number): void {
  const last: LastBackup = { at: new Date(at).toISOString(), to: resolve(to) }
  try {
    writeWhole(backupPath(file), `${JSON.stringify(last)}\n`)
  } catch {}
}

const BACKUP_DAYS = 2

function backupFinding(file: string, now: number): SetupFinding {
  const last = lastBackup(file)
  const fix = nextSteps.backup(`${file}-${new Date(now).toISOString().slice(0, 10)}.db`, file)
  if (!last) return warning('backup', `No backup of ${file} was made by this program`, fix)
  if (!existsSync(last.to)) return warning('backup', `The last backup, ${last.to} of ${last.at}, is not there`, fix)
  const days = Math.floor((now - Date.parse(last.at)) / durations.dayMs)
  if (days >= BACKUP_DAYS) return warning('backup', `The last backup is ${days} days old: ${last.to}`, fix)
  return ok('backup', `The last backup is ${last.to} of ${last.at}`)
}

function lastBackup(file: string): LastBackup | null {
  try {
    const { at, to } = JSON.parse(readFileSync(backupPath(file), 'utf8'))
    return typeof to === 'string' && Number.isFinite(Date.parse(at)) ? { at, to } : null
  } catch {
    return null
  }
}

/** What only the server's user may read, its last backup included: it has all that the database has. */
function keptFor(file: string): string[] {
  const last = lastBackup(file)
  return [...partsOf(file), `${file}.key`, `${file}.key.old`, ...(last ? [last.to] : [])]
}

/** `serve` speaks no TLS, so an address of https is that of a proxy. */
function proxyFindings({ baseUrl, trustProxy }: Settings): SetupFinding[] {
  if (!baseUrl.startsWith('https:')) return []
  if (trustProxy > 0) return [ok('proxy', `As many proxies are trusted as stand in front: ${trustProxy}`)]
  const words = `${baseUrl} is that of a proxy, and none is trusted: all clients share the limits of one address`
  return [warning('proxy', words, 'echo MARKETPLACE_TRUST_PROXY=1 >> .env')]
}

/** A snapshot, and a backup, are as large as the database. */
const COPIES = 2
const LEAST_FREE = 256 * 2 ** 20

async function diskFindings(file: string | null, filesFolder: string | undefined): Promise<SetupFinding[]> {
  const folders = [...(file === null ? [] : [dirname(file)]), ...(filesFolder ? [filesFolder] : [])]
  const size = file === null ? 0 : partsOf(file).reduce((sum, path) => sum + sizeOf(path), 0)
  const findings: SetupFinding[] = []
  for (const folder of new Set(folders.filter(existsSync))) {
    const { bavail, bsize } = await statfs(folder)
    findings.push(diskFinding(folder, bavail * bsize, size))
  }
  return findings
}

/** @internal Tested with disks of every size. */
export function diskFinding(folder: string, free: number, size: number): SetupFinding {
  const words = `${Math.floor(free / 2 ** 20)} MB are free in ${folder}`
  const fix = `See what takes the room: du -xh --max-depth=1 ${folder}`
  if (free < size) return failed('disk', `${words}, less than a copy of the database takes`, fix)
  if (free < Math.max(LEAST_FREE, COPIES * size)) return warning('disk', words, fix)
  return ok('disk', words)
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** With the server and the sender of the operator. */
const MAIL_SETTINGS = `echo MARKETPLACE_SMTP_URL=smtps://user:password@mail.example >> .env
echo MARKETPLACE_MAIL_FROM=market@mail.example >> .env`

async function mailFinding({ mail }: Settings): Promise<SetupFinding> {
  if (!mail) {
    return warning('mail', 'No mail is configured, so nobody can reset a password', MAIL_SETTINGS)
  }
  const { host } = new URL(mail.smtpUrl)
  const why = await proveMail(mail.smtpUrl)
  if (why === null) return ok('mail', `${host} takes mail from ${mail.from}`)
  return failed('mail', `${host} takes no mail: ${plain(why)}`, 'Correct MARKETPLACE_SMTP_URL, and start serve again')
}

const PATIENCE_MS = 5_000
const WARNING_DAYS = 14

async function certificateFindings(baseUrl: string, now: number): Promise<SetupFinding[]> {
  if (!baseUrl.startsWith('https:')) return []
  const { hostname, port } = new URL(baseUrl)
  const until = await certificateUntil(hostname, Number(port || 443))
  return [certificateFinding(hostname, until, now, port || '443')]
}

/** Resolves to the last day of the certificate, or to why there is no right one. */
function certificateUntil(hostname: string, port: number): Promise<number | string> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise(resolve => {
    const end = (result: number | string) => {
      socket.destroy()
      resolve(result)
    }
    const socket = connect({ host, port, servername: /[a-z]/i.test(host) && !host.includes(':') ? host : '' }, () =>
      end(Date.parse(socket.getPeerCertificate().valid_to)),
    )
    socket.setTimeout(PATIENCE_MS, () => end(`no answer within ${PATIENCE_MS / 1000} s`))
    socket.once('error', ({ message }) => end(message))
  })
}

/** @internal Tested with other times. */
export function certificateFinding(hostname: string, until: number | string, now: number, port = '443'): SetupFinding {
  const fix = `See it: openssl s_client -connect ${hostname}:${port} -servername ${hostname}`
  if (typeof until === 'string')
    return failed('certificate', `${hostname} has no right certificate: ${plain(until)}`, fix)
  const day = new Date(until).toISOString().slice(0, 10)
  const left = Math.floor((until - now) / durations.dayMs)
  if (left < WARNING_DAYS) return warning('certificate', `The certificate of ${hostname} ends on ${day}`, fix)
  return ok('certificate', `The certificate of ${hostname} holds until ${day}`)
}

const NAMED = 5

/** Only an administrator sees who has none. */
export async function secondFactorFindings(client: Client, url: string, isRequired: boolean): Promise<SetupFinding[]> {
  const asked = { secondFactor: 'missing', limit: NAMED } as const
  const found = await client.adminListUsers(asked).then(
    page => page,
    () => null,
  )
  if (found === null) return []
  const { items, pagination } = found
  if (items.length === 0) return [ok('second factor', 'Each administrator has one')]
  const names = items.map(({ email }) => plain(email)).join(', ')
  const more = pagination.total > items.length ? ` and ${pagination.total - items.length} more` : ''
  const words = `Administrators without one: ${names}${more}`
  const fix = `Each turns it on: ${nextSteps.secondFactor(` --url ${url}`)}`
  return [
    isRequired
      ? failed('second factor', `${words}. They can settle no money`, fix)
      : warning('second factor', words, fix),
  ]
}
