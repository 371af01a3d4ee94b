/**
 * Loads at the start what a server needs later. An import that fails once fails for ever, and later there may be no file
 * descriptor free.
 */
import { loadCron } from '../world/cron.ts'
import { loadPool } from '../world/egress/undici-internals.ts'
import { loadNodemailer } from '../world/mail.ts'
import type { World } from '../world/world.ts'
import { loadReference } from './docs-pages.ts'
import { loadPublicPages } from './public/routes.ts'

/** Takes a quarter of a second, mostly for uploads, webhooks and mail. Rejects if a module is missing. */
export async function loadAhead({ mail }: Pick<World, 'mail'>): Promise<void> {
  await Promise.all([
    import('./multipart.ts'),
    loadReference(),
    loadPublicPages(),
    import('@node-rs/argon2'),
    loadCron(),
    loadPool(),
    ...(mail ? [loadNodemailer()] : []),
  ])
}
