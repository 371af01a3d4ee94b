/** The world that a marketplace opens with: the machine's time and network, or what stands in for them. Source. */

import { clockOffset } from '../market/upkeep/clock-moves.ts'
import { type Db, StoreError } from '../store/db.ts'
import { countUsers } from '../store/tables/accounts/users.ts'
import { seenThrough } from '../world/egress/front-answers.ts'
import { publicRule } from '../world/egress/public-rule.ts'
import { createMailer } from '../world/mail.ts'
import { createWorld } from '../world/real.ts'
import type { World } from '../world/world.ts'
import type { OpenOptions } from './options.ts'

/** Reads the offset of dev's clock, which is stored. A deployment always uses the machine's clock. Source: A-44. */
export async function openWorld(
  { mode, seed, ca, mail, wayOut, baseUrl, debug, world: given }: OpenOptions,
  db: Db,
): Promise<World> {
  if (given) return mail ? { ...given, mail: createMailer(mail) } : given
  const { offset, users } = await db.read(async q => ({
    offset: await clockOffset(q),
    users: await countUsers(q),
  }))
  if (seed !== undefined && users > 0) {
    throw new StoreError(
      'A seed would give the same ids again, so it needs an empty database. Add --ephemeral, or name a new file.',
    )
  }
  const world = createWorld({
    offsetMs: mode === 'dev' ? offset : 0,
    ...(seed === undefined ? {} : { seed }),
    requireHttps: true,
    allowLoopback: mode === 'dev',
    names: { resolver: wayOut?.resolver },
    debug: debug?.webhooks,
    ...(mode === 'serve' && publicRule(wayOut, baseUrl)),
    mail,
    ...(ca === undefined ? {} : { ca }),
  })
  // The agents of this machine are behind a front.
  return mode === 'dev' ? { ...world, egress: seenThrough(world.egress) } : world
}
