/** `marketplace serve`: a deployment. Source: D1–D5. */
import { type Flags, nameOf, readSettings, UsageError } from '../config.ts'
import { openMarketplace } from '../open.ts'
import { deploymentLog } from './deployment-log.ts'
import { endAfterDiskFailure, untilSignal } from './running.ts'
import { createUi } from './ui.ts'

export async function serve(flags: Flags & { json?: boolean; migrate?: boolean }): Promise<number> {
  const settings = readSettings('serve', flags)
  const ui = createUi()
  const { log, open, flush } = deploymentLog(flags.json ? 1 : 2)
  const admin = adminOf(settings)
  const house = await openMarketplace({
    ...settings,
    mode: 'serve',
    ...settings.db,
    migrate: flags.migrate,
    admin,
    log,
    holder: `marketplace serve on ${settings.host}:${settings.port}`,
    onFatal: endAfterDiskFailure,
  })
  const ended = untilSignal(() => house.close())
  if (flags.json) ui.json({ type: 'ready', mode: 'serve', url: house.url, db: nameOf(settings.db), pid: process.pid })
  else
    ui.line(
      `The marketplace answers at ${ui.colour.bold(house.url)}; its data is in ${nameOf(settings.db)}. Ctrl-C ends it.`,
    )
  open()
  if (house.metricsPort !== null) {
    log({ type: 'info', message: `Metrics are at http://127.0.0.1:${house.metricsPort}/metrics` })
  }
  if (!settings.mail) {
    log({
      type: 'warning',
      message: 'No mail is configured (MARKETPLACE_SMTP_URL, MARKETPLACE_MAIL_FROM): nobody can reset a password.',
    })
  }
  if (settings.rateLimits === 'off') {
    log({ type: 'warning', message: 'Rate limits are off: whoever can reach this server can flood it.' })
  }
  return ended.finally(flush)
}

function adminOf({
  adminEmail: email,
  adminPassword: password,
}: {
  adminEmail?: string | undefined
  adminPassword?: string | undefined
}) {
  if (!email && !password) return undefined
  if (email && password) return { email, password }
  throw new UsageError('MARKETPLACE_ADMIN_EMAIL and MARKETPLACE_ADMIN_PASSWORD go together; one is missing.')
}
