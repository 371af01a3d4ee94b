/**
 * Delays attempts to guess passwords and codes; it never locks an account. An attempt counts when it arrives, so many at
 * once are no faster than one after the other. A correct one is uncounted. Delays grow for one account from one client
 * address or network and, more slowly, for one account from all networks that it has not signed in from. There the first
 * attempts of each network have turns of their own, which networks that go on guessing can't take. Source: A-193.
 */

import { createHash } from 'node:crypto'
import { refuse } from '../../api/failures.ts'
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

/**
 * The network that one customer of a provider gets, from an address as rate limits know it: /24 of IPv4, /48 of IPv6. In
 * less than that anybody can have as many addresses as they like.
 */
const networkOf = (address: string) => {
  const mark = address.includes(':') ? ':' : '.'
  return address.split(mark, 3).join(mark)
}

/** Attempts at an account from an address that it has not signed in from. */
export const fromUnknown = (email: string, address: string): GuessTarget[] => [
  { rule: 'network', at: [email, networkOf(address)] },
  { rule: 'newcomers', at: [email] },
  { rule: 'strangers', at: [email] },
]

/** The same by whoever sends the code of the account's second factor along. */
export const fromHolder = (email: string, address: string): GuessTarget[] => [
  { rule: 'network', at: [email, networkOf(address)] },
  { rule: 'holder', at: [email] },
]

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
  const counts = countsOf(market)
  const { waitMs, counted } = await counts.add(namedOf(targets), world.now())
  if (waitMs > 0 && config.rateLimits === 'strict') throw refuse('too_many_guesses', Math.ceil(waitMs / 1000))
  if (waitMs > 0) log({ type: 'warning', message: `An attempt at a password or code came ${waitMs} ms too early` })
  return { right: () => counts.giveBack(counted) }
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

/** A hash, so that no emails and addresses are stored and every subject has one length. */
const subjectOf = (rule: Rule, at: readonly string[]) =>
  createHash('sha256')
    .update(JSON.stringify([rule, ...at]))
    .digest('base64url')

interface Named {
  readonly rule: Rule
  readonly subject: string
}

interface Added {
  /** How long the attempt has to wait; 0 if it was let through. */
  readonly waitMs: number
  readonly counted: readonly Named[]
}

/** Where attempts are counted: in memory or in rows. */
interface Counts {
  /** Counts an attempt for each target that it belongs to. If one comes too early, counts none. */
  add(targets: readonly Named[], now: number): Promise<Added>
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

function counted({ count: before, endsAt }: GuessesRow, rule: Rule, now: number): GuessesRow {
  const { free, baseMs, capMs, forgottenMs } = guessing.rules[rule]
  const count = now < endsAt ? before + 1 : 1
  const delayMs = count < free ? 0 : Math.min(capMs, baseMs * 2 ** Math.min(count - free, 20))
  return { count, nextAt: now + delayMs, endsAt: now + delayMs + forgottenMs }
}

interface Counted extends Named {
  readonly row: GuessesRow
}

/** What an attempt makes of these rows, or how long it has to wait. */
function attempt(given: readonly Counted[], now: number): { waitMs: number; next: readonly Counted[] } {
  const isNewcomer = given.some(
    ({ rule, row }) => rule === 'network' && (now >= row.endsAt || row.count < guessing.newcomerTurns),
  )
  // An attempt has one turn: among those of newcomers, or of strangers.
  const others = given.some(({ rule }) => rule === 'network') ? (isNewcomer ? 'strangers' : 'newcomers') : null
  const rows = given.filter(({ rule }) => rule !== others)
  const waitMs = Math.max(...rows.map(({ rule, row }) => waitOf(row, rule, now)))
  return { waitMs, next: waitMs > 0 ? [] : rows.map(each => ({ ...each, row: counted(each.row, each.rule, now) })) }
}

/**
 * After a correct attempt the count of this address ends. Of what all strangers share only this attempt is uncounted, as
 * theirs still count.
 */
const givenBack = (row: GuessesRow, rule: Rule): GuessesRow =>
  rule === 'newcomers' || rule === 'strangers' ? { ...row, count: Math.max(0, row.count - 1) } : none

const none: GuessesRow = { count: 0, nextAt: 0, endsAt: 0 }

/** For a single process. The least recently used target is forgotten first. */
class MemoryCounts implements Counts {
  readonly #rows = boundedCache<GuessesRow>({ maxBytes: guessing.memoryBytes, bytesOf: () => 0 })

  async add(targets: readonly Named[], now: number) {
    const { waitMs, next } = attempt(
      targets.map(target => ({ ...target, row: this.#rows.get(target.subject) ?? none })),
      now,
    )
    for (const { subject, row } of next) this.#rows.set(subject, row)
    return { waitMs, counted: next }
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
        const given: Counted[] = []
        for (const target of targets) given.push({ ...target, row: await lockedGuesses(tx, target.subject) })
        const { waitMs, next } = attempt(given, now)
        for (const { subject, row } of next) await setGuesses(tx, subject, row)
        return { waitMs, counted: next }
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
