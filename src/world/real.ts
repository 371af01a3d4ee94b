/** The real world: the machine's clock, its random source, the network. */
import { randomBytes, randomFillSync } from 'node:crypto'
import { seededChance } from './chance.ts'
import { everyHours } from './cron.ts'
import { createEgress, type EgressOptions } from './egress/egress.ts'
import { idMaker } from './ids.ts'
import { createMailer, type MailOptions } from './mail.ts'
import type { World } from './world.ts'

export interface WorldOptions extends EgressOptions {
  /**
   * How far domain time is ahead of the machine's, in ms. dev keeps it over restarts as `now() - realNow()`. Source: A-44.
   */
  offsetMs?: number
  /**
   * Makes ids, bytes and random numbers repeatable. Only for an empty database, because the same seed gives the same ids
   * again.
   */
  seed?: string | number
  /** Without it no mail is sent. */
  mail?: MailOptions | undefined
}

// The time in the ids of a seeded world: 2026-01-01. Any fixed one would do.
const SEEDED_EPOCH_MS = 1_767_225_600_000

/**
 * Of domain time while the machine's clock is behind it: an hour is caught up in twenty, and a minute's window lasts three
 * seconds more.
 */
const PACE = 0.95

/** Makes the world of real time and real sockets. Only `egress` and `mail` have to be closed. Source. */
export function createWorld({ offsetMs = 0, seed, mail, ...rule }: WorldOptions): World {
  const seeded = seed === undefined ? undefined : seededChance(seed)
  const makeId = idMaker(seeded ?? strongChance())
  let offset = offsetMs
  let latest = 0
  let seenAt = performance.now()
  let stopped = false

  // When the machine's clock is set back, domain time goes on a little more slowly until the clock has caught up. So it
  // never goes back, and never stands still for those who wait for a time.
  function now(): number {
    if (stopped) return Math.floor(latest)
    const elapsed = performance.now() - seenAt
    seenAt += elapsed
    latest = Math.max(latest + elapsed * PACE, Date.now() + offset)
    return Math.floor(latest)
  }

  return {
    now,
    realNow: () => Date.now(),
    advance(to) {
      if (to <= now()) return
      if (stopped) latest = Math.trunc(to)
      else offset = Math.trunc(to) - Date.now()
    },
    stopClock() {
      latest = now()
      stopped = true
      return () => {
        if (!stopped) return
        stopped = false
        offset = Math.floor(latest) - Date.now()
        seenAt = performance.now()
      }
    },
    id: (prefix, beside) => makeId(prefix, seeded ? SEEDED_EPOCH_MS : now(), beside),
    bytes: count => seeded?.bytes(count) ?? randomBytes(count),
    chance: () => seeded?.fraction() ?? Math.random(),
    after(ms, work) {
      const timer = setTimeout(work, ms).unref()
      return { cancel: () => clearTimeout(timer) }
    },
    everyHours,
    egress: createEgress(rule),
    mail: mail ? createMailer(mail) : null,
  }
}

/** The system's random source, read for many ids at once. */
function strongChance() {
  const words = new Uint32Array(1024)
  let at = words.length
  return {
    nextUint32() {
      if (at === words.length) {
        randomFillSync(words)
        at = 0
      }
      return words[at++]!
    },
  }
}
