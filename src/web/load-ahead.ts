/** Loads what a server needs later while it surely can: an import that failed once, for want of a descriptor, fails for ever. */
import { loadCron } from '../world/cron.ts'
import { loadPool } from '../world/egress/egress.ts'
import { loadNodemailer } from '../world/mail.ts'
import type { World } from '../world/world.ts'

/** A quarter of a second, nearly all of it for uploads, webhooks and mail. Rejects if any of it is not there. */
export async function loadAhead({ mail }: Pick<World, 'mail'>): Promise<void> {
  await Promise.all([
    import('./multipart.ts'),
    import('@node-rs/argon2'),
    loadCron(),
    loadPool(),
    ...(mail ? [loadNodemailer()] : []),
  ])
}
