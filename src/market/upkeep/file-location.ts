/**
 * Makes sure that instances on one database keep uploaded files in one location. An instance with another one is refused.
 */
import { type Db, StoreError } from '../../store/db.ts'
import {
  deleteLocation,
  type FileLocationRow,
  insertLocation,
  otherLocations,
  renewLocation,
} from '../../store/tables/upkeep/file-locations.ts'
import type { World } from '../../world/world.ts'

export interface FileLocation {
  /** Compared with that of other instances: the address of an object store, or the id of a folder. */
  name: string
  /**
   * `shared`: any number of instances may use it. `alone`: one may. `successor`: one may, and its predecessor is certainly
   * gone.
   */
  kind: 'shared' | 'alone' | 'successor'
  /** Describes this instance for people. */
  holder: string
}

export interface Claim {
  /** Ends the claim, so that another instance can start at once. */
  release(): Promise<void>
}

const LEASE_MS = 30_000
const RENEWAL_MS = 10_000

/**
 * Claims the location for this instance. Throws a StoreError if a live instance uses another one. Calls `lost` if that is
 * found later.
 */
export async function claimLocation(
  { db, world }: { db: Db; world: World },
  location: FileLocation,
  lost: (error: Error) => void,
): Promise<Claim> {
  const instance = world.id('instance')
  const leasedUntil = () => world.realNow() + LEASE_MS

  // By `migrate`, which runs alone: each instance must see all that came before it.
  const claim = ({ kind, name, holder }: FileLocation) =>
    db.migrate(async tx => {
      const realNow = world.realNow()
      const others = await otherLocations(tx, instance, realNow)
      const [other] = others.filter(({ location }) => location !== name || kind === 'alone')
      if (other) throw elsewhere(other, location)
      if (kind === 'successor') for (const { instance: gone } of others) await deleteLocation(tx, gone)
      await insertLocation(tx, { instance, location: name, holder, leasedUntil: leasedUntil() }, realNow)
    })

  const renew = async () => {
    if (await db.write(tx => renewLocation(tx, instance, world.realNow(), leasedUntil()))) return
    await claim(location.kind === 'successor' ? { ...location, kind: 'alone' } : location)
  }

  let left = false
  let running: Promise<void> = Promise.resolve()
  const tick = () => {
    if (left) return
    // Others report an unreachable database. The claim is renewed when it is back.
    running = renew().catch(error => {
      if (error instanceof LocationError && !left) lost(error)
    })
    running.then(() => {
      timer = world.after(RENEWAL_MS, tick)
    })
  }
  await claim(location)
  let timer = world.after(RENEWAL_MS, tick)
  return {
    async release() {
      left = true
      timer.cancel()
      await running
      await db.write(tx => deleteLocation(tx, instance)).catch(() => {}) // else the lease ends by itself
    },
  }
}

/**
 * Another instance keeps its files elsewhere.
 * @internal Tests tell it from other errors.
 */
export class LocationError extends StoreError {}

function elsewhere(other: FileLocationRow, own: FileLocation): LocationError {
  return new LocationError(
    `Another instance on this database (${other.holder}) keeps uploaded files in ${nameOf(other.location)}, this one in ` +
      `${nameOf(own.name)}: neither could serve what the other took in. Give every instance the same object store, ` +
      '--files s3://bucket/prefix, and stop those that run without it first. If that instance is gone, its claim ends ' +
      `at ${new Date(other.leasedUntil).toISOString()}.`,
  )
}

const nameOf = (location: string) => (location.startsWith('s3://') ? location : 'a folder of its own machine')
