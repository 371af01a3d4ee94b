/**
 * Delays attempts to guess passwords and codes; it never locks an account. An attempt counts when it arrives, so many at
 * once are no faster than one after the other. A correct one is uncounted. Delays grow for one account from one client
 * address and, more slowly, for one account from all addresses that it has not signed in from. Source: A-193.
 */

import { createHash } from 'node:crypto'
import { type Refusal, refuse } from '../../api/failures.ts'
import { guessing } from '../../api/limits.ts'
import { boundedCache } from '../../shared/bounded-cache.ts'
import type { Db } from '../../store/db.ts'
import { type GuessesRow, lockedGuesses, setGuesses } from '../../store/tables/accounts/guesses.ts'
import type { UserRow } from '../../store/tables/accounts/users.ts'
import type { Market, OwnCtx } from '../market.ts'
import { verifyPassword } from './passwords.ts'

type Rule = keyof typeof guessing.rules

/** What attempts are counted for, and under which rule. `at`: its parts, such as an email and a client address. */
export interface GuessTarget {
  readonly rule: Rule
  readonly at: readonly string[]
}

/** An attempt that was let through. */
export interface Guess {
  /** The attempt was correct: it no longer counts, and the delay for this account at this address ends. */
  right(): Promise<void>
}

type Guarded = Pick<Market, 'db' | 'world' | 'config' | 'log' | 'memory'>

/**
 * Counts one attempt for all of these targets. If one of them has to wait, counts none and refuses with the time to wait.
 */
export async function guess(market: Guarded, targets: readonly GuessTarget[]): Promise<Guess> {
  const { world, config, log } = market
  if (config.rateLimits === 'off' || targets.length === 0) return { right: async () => {} }
  const named = namedOf(targets)
  const counts = countsOf(market)
  const waitMs = await counts.add(named, world.now())
  if (waitMs > 0 && config.rateLimits === 'strict') throw tooMany(waitMs)
  if (waitMs > 0) log({ type: 'warning', message: `An attempt at a password or code came ${waitMs} ms too early` })
  return { right: () => counts.giveBack(named) }
}

/** Forgets all attempts at these targets, because their owner has proved in another way who they are. */
export async function forgive(market: Omit<Guarded, 'world' | 'log'>, targets: readonly GuessTarget[]): Promise<void> {
  if (market.config.rateLimits !== 'off') await countsOf(market).forget(namedOf(targets))
}

/** Sorted, so that two transactions lock the rows in one order and can't deadlock. */
const namedOf = (targets: readonly GuessTarget[]): Named[] =>
  targets
    .map(({ rule, at }) => ({ rule, subject: subjectOf(rule, at) }))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1))

function tooMany(waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000)
  const refusal = refuse('too_many_guesses', seconds)
  refusal.headers = { 'retry-after': String(seconds) }
  return refusal
}

/** A hash, so that no emails and addresses are stored and every subject has one length. */
const subjectOf = (rule: Rule, at: readonly string[]) =>
  createHash('sha256')
    .update(JSON.stringify([rule, ...at]))
    .digest('base64url')

interface Named {
  readonly rule: Rule
  readonly subject: string
}

/** Where attempts are counted: in memory or in rows. */
interface Counts {
  /**
   * Counts an attempt for each target and returns 0. If one comes too early, counts none and returns how long to wait, in
   * ms.
   */
  add(targets: readonly Named[], now: number): Promise<number>
  giveBack(targets: readonly Named[]): Promise<void>
  forget(targets: readonly Named[]): Promise<void>
}

const countsOf = ({ db, memory }: Pick<Market, 'db' | 'memory'>): Counts =>
  db.shared ? rowCounts(db) : memory.of(MemoryCounts)

/**
 * Returns how long an attempt has to wait, in ms. A longer wait than the rule allows comes from a wrong clock and is
 * ignored.
 */
function waitOf({ nextAt }: GuessesRow, rule: Rule, now: number): number {
  const waitMs = nextAt - now
  return waitMs > 0 && waitMs <= guessing.rules[rule].capMs ? waitMs : 0
}

function counted(row: GuessesRow | undefined, rule: Rule, now: number): GuessesRow {
  const { free, baseMs, capMs } = guessing.rules[rule]
  const count = row && now < row.endsAt ? row.count + 1 : 1
  const delayMs = count < free ? 0 : Math.min(capMs, baseMs * 2 ** Math.min(count - free, 20))
  return { count, nextAt: now + delayMs, endsAt: now + delayMs + guessing.forgottenAfterMs }
}

/**
 * After a correct attempt the count of this address ends. For all addresses only this attempt is uncounted, as those of
 * strangers still count.
 */
const givenBack = (row: GuessesRow, rule: Rule): GuessesRow =>
  rule === 'account' ? { ...row, count: Math.max(0, row.count - 1) } : none

const none: GuessesRow = { count: 0, nextAt: 0, endsAt: 0 }

/** For a single process. The least recently used target is forgotten first. */
class MemoryCounts implements Counts {
  readonly #rows = boundedCache<GuessesRow>({ maxBytes: guessing.memoryBytes, bytesOf: () => 0 })

  async add(targets: readonly Named[], now: number) {
    const waits = targets.map(({ rule, subject }) => {
      const row = this.#rows.get(subject)
      return row ? waitOf(row, rule, now) : 0
    })
    const waitMs = Math.max(...waits)
    if (waitMs > 0) return waitMs
    for (const { rule, subject } of targets) this.#rows.set(subject, counted(this.#rows.get(subject), rule, now))
    return 0
  }

  async giveBack(targets: readonly Named[]) {
    for (const { rule, subject } of targets) {
      const row = this.#rows.get(subject)
      if (row) this.#rows.set(subject, givenBack(row, rule))
    }
  }

  async forget(targets: readonly Named[]) {
    for (const { subject } of targets) this.#rows.delete(subject)
  }
}

/**
 * For processes that share a database. A row lives for some hours, and rate limits let an address make only few a minute
 * (A-40).
 */
function rowCounts(db: Db): Counts {
  return {
    add: (targets, now) =>
      db.write(async tx => {
        const rows: GuessesRow[] = []
        for (const { subject } of targets) rows.push(await lockedGuesses(tx, subject))
        const waitMs = Math.max(...targets.map(({ rule }, i) => waitOf(rows[i]!, rule, now)))
        if (waitMs > 0) return waitMs
        for (const [i, { rule, subject }] of targets.entries()) {
          await setGuesses(tx, subject, counted(rows[i], rule, now))
        }
        return 0
      }),
    giveBack: targets =>
      db.write(async tx => {
        for (const { rule, subject } of targets) {
          await setGuesses(tx, subject, givenBack(await lockedGuesses(tx, subject), rule))
        }
      }),
    forget: targets =>
      db.write(async tx => {
        for (const { subject } of targets) await setGuesses(tx, subject, none)
      }),
  }
}

/** Asks a signed-in user for the password again, before a change that a stolen session must not make. */
export async function checkOwnPassword(ctx: OwnCtx, user: UserRow, password: string): Promise<void> {
  const made = await guess(ctx, [{ rule: 'own', at: [user.id] }])
  if (!(await verifyPassword(user.passwordHash, password, ctx.caller))) throw refuse('wrong_password')
  await made.right()
}
