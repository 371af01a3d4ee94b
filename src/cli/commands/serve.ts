/** `marketplace serve`: a deployment. Source. */

import { resolve, sep } from 'node:path'
import {
  type FirstAdministrator,
  warnWithoutAdministrator,
  warnWithoutSecondFactor,
} from '../../market/accounts/first-administrator.ts'
import type { Log } from '../../market/log.ts'
import { type Marketplace, openMarketplace } from '../../open/open.ts'
import {
  type Flags,
  isLoopbackName,
  readSettings,
  remarksOn,
  type Settings,
  UsageError,
} from '../../settings/config.ts'
import { nameOf } from '../../settings/values.ts'
import { withPortOwner } from '../doctor/port-owner.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { debugLines } from '../log/debug-lines.ts'
import { type DeploymentLog, deploymentLog } from '../log/deployment-log.ts'
import { withDiskReason, withSystemReason } from '../output/disk-faults.ts'
import { createUi } from '../output/ui.ts'
import { untilSignal } from '../shutdown.ts'

type ServeFlags = Flags & { json?: boolean; migrate?: boolean; newSecretKey?: boolean }

/** Writes only JSON unless stderr is a terminal, as a supervisor may read stdout and stderr as one stream. Source: A-200. */
export async function serve(flags: ServeFlags): Promise<number> {
  const journal = deploymentLog(flags.json ? 1 : 2)
  try {
    return await run(flags, journal)
  } catch (error) {
    if (process.stderr.isTTY && !flags.json) throw error
    journal.log({ type: 'error', message: withHint(withSystemReason(error as Error)) })
    journal.open()
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  } finally {
    await journal.end()
  }
}

const withHint = (error: Error) =>
  error instanceof Fault && error.details.hint ? `${error.message}. ${error.details.hint}` : error.message

async function run(flags: ServeFlags, journal: DeploymentLog): Promise<number> {
  const settings = readSettings('serve', flags)
  const { log, open, end } = journal
  journal.setLevel(settings.logLevel)
  const marketplace = await openMarketplace({
    ...settings,
    mode: 'serve',
    ...settings.db,
    migrate: flags.migrate,
    newSecretKey: flags.newSecretKey,
    admin: adminOf(settings),
    // The log of a deployment has a time of its own.
    log: ({ seq, at, realAt, ...entry }) => log(entry),
    debug: debugLines(settings.logLevel, true),
    holder: `marketplace serve on ${settings.host}:${settings.port}`,
    // The log has the reason already.
    onFatal() {
      open()
      void end().then(() => process.exit(exitCodes.failed))
    },
  }).catch(async error => {
    throw await withPortOwner(withPlaceOf(error, settings), settings.host, settings.port)
  })
  const ended = untilSignal(signal => closeAt(signal, marketplace, log))
  printReady(flags, marketplace, settings)
  log(startOf(marketplace, settings))
  open()
  for (const remark of remarksOn(settings)) log(remark)
  warn(marketplace, settings, log)
  await warnWithoutAdministrator(marketplace.market)
  await warnWithoutSecondFactor(marketplace.market)
  return ended
}

/** Which of its places the disk has refused, and what names another one. */
function withPlaceOf(error: Error, { db, filesFolder }: Settings): Error {
  const { path } = error as NodeJS.ErrnoException
  if (filesFolder !== undefined && path && `${resolve(path)}${sep}`.startsWith(`${resolve(filesFolder)}${sep}`))
    return withDiskReason(error, `serve can't keep files in ${filesFolder}`, '--files FOLDER keeps them elsewhere.')
  if (db.postgres) return error
  return withDiskReason(error, `serve can't keep its data in ${nameOf(db)}`, '--db FILE keeps it elsewhere.')
}

async function closeAt(signal: NodeJS.Signals, marketplace: Marketplace, log: Log): Promise<void> {
  const asked = performance.now()
  await marketplace.close()
  log({ type: 'stop', reason: signal, ms: Math.round(performance.now() - asked) })
}

function printReady({ json }: ServeFlags, { url }: Marketplace, { db }: Settings): void {
  const ui = createUi()
  if (json) ui.json({ type: 'ready', mode: 'serve', url, db: nameOf(db), pid: process.pid })
  else if (process.stdout.isTTY)
    ui.line(`The marketplace answers at ${ui.colour.bold(url)}; its data is in ${nameOf(db)}. Ctrl-C ends it.`)
}

const startOf = ({ market, url }: Marketplace, { db }: Settings) =>
  ({
    type: 'start',
    version: market.config.version,
    url,
    engine: db.postgres ? 'postgres' : 'embedded',
    db: nameOf(db),
    pid: process.pid,
  }) as const

function warn({ market, metricsPort }: Marketplace, { mail, rateLimits, wayOut }: Settings, log: Log): void {
  if (wayOut.allowed.length > 0) {
    log({
      type: 'warning',
      message: `Webhooks may go to ${wayOut.allowed.join(', ')} too (MARKETPLACE_EGRESS_ALLOW): every builder can reach what listens there.`,
    })
  }
  if (metricsPort !== null) log({ type: 'info', message: `Metrics are at http://127.0.0.1:${metricsPort}/metrics` })
  if (!mail) {
    log({
      type: 'warning',
      message: 'No mail is configured (MARKETPLACE_SMTP_URL, MARKETPLACE_MAIL_FROM): nobody can reset a password.',
    })
  }
  const { protocol, hostname } = new URL(market.config.baseUrl)
  if (protocol === 'http:' && !isLoopbackName(hostname)) {
    log({
      type: 'warning',
      message: `The base URL is http://${hostname}: passwords, sessions and keys can be read on their way. Put TLS in front and say --base-url https://…`,
    })
  }
  if (rateLimits === 'off') {
    log({ type: 'warning', message: 'Rate limits are off: whoever can reach this server can flood it.' })
  }
}

function adminOf({ adminEmail: email, adminPassword: password }: Settings): FirstAdministrator | undefined {
  if (!email && !password) return undefined
  if (email && password) return { email, password }
  throw new UsageError('MARKETPLACE_ADMIN_EMAIL and MARKETPLACE_ADMIN_PASSWORD go together; one is missing.')
}
