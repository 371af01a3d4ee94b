/**
 * Guesses at passwords and codes are slowed, not locked out. A guess counts on its arrival, so that many at once are as
 * slow as one after the other; a right one is taken back. What is slowed is one account at one address, and, more softly,
 * one account at all addresses that it has not signed in from. Source: A-193.
 */
import { createHash } from 'node:crypto'
import { type Refusal, refuse } from '../../api/failures.ts'
import { guessing } from '../../api/limits.ts'
import type { Db } from '../../store/db.ts'
import { type GuessesRow, heldGuesses, setGuesses } from '../../store/tables/guesses.ts'
import { type BoundedCache, boundedCache } from '../bounded-cache.ts'
import type { Market } from '../market.ts'

type Rule = keyof typeof guessing.rules

/** What is guessed at, under which rule. `at` are the parts that make it one: an email, an address. */
export interface Target {
  readonly rule: Rule
  readonly at: readonly string[]
}

/** A guess that was let through. */
export interface Guess {
  /** It was right: it never counted, and what slows this account at this address is over. */
  right(): Promise<void>
}

type Guarded = Pick<Market, 'db' | 'world' | 'config' | 'log' | 'memory'>

/** Counts one guess at all of these targets, or at none and refuses with the time to wait. */
export async function guess(market: Guarded, targets: readonly Target[]): Promise<Guess> {
  const { world, config, log } = market
  if (config.rateLimits === 'off' || targets.length === 0) return { right: async () => {} }
  const named = namedOf(targets)
  const counts = countsOf(market)
  const waitMs = await counts.take(named, world.now())
  if (waitMs > 0 && config.rateLimits === 'strict') throw tooMany(waitMs)
  if (waitMs > 0) log({ type: 'warning', message: `A guess at a password came ${waitMs} ms too early` })
  return { right: () => counts.giveBack(named) }
}

/** All guesses at these targets are forgotten: their owner has shown who they are in another way. */
export async function forgive(market: Omit<Guarded, 'world' | 'log'>, targets: readonly Target[]): Promise<void> {
  if (market.config.rateLimits !== 'off') await countsOf(market).forget(namedOf(targets))
}

/** Sorted, so that no two hold what the other waits for. */
const namedOf = (targets: readonly Target[]): Named[] =>
  targets
    .map(({ rule, at }) => ({ rule, subject: subjectOf(rule, at) }))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1))

function tooMany(waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000)
  const refusal = refuse('too_many_guesses', seconds)
  refusal.headers = { 'retry-after': String(seconds) }
  return refusal
}

/** Emails and addresses are not kept, and every subject is of one length. */
const subjectOf = (rule: Rule, at: readonly string[]) =>
  createHash('sha256')
    .update(JSON.stringify([rule, ...at]))
    .digest('base64url')

interface Named {
  readonly rule: Rule
  readonly subject: string
}

/** Where guesses are counted. */
interface Counts {
  /** Counts a guess at each; returns how long to wait instead, in ms, where one of them comes too early. */
  take(targets: readonly Named[], now: number): Promise<number>
  giveBack(targets: readonly Named[]): Promise<void>
  forget(targets: readonly Named[]): Promise<void>
}

const countsOf = ({ db, memory }: Pick<Market, 'db' | 'memory'>): Counts =>
  db.shared ? rowCounts(db) : memory.of(MemoryCounts)

/** How long a guess at this has to wait. No wait is longer than its rule allows, whatever the clock was set to. */
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

/** After a right guess: all is well again at this address; elsewhere the guesses of others still count. */
const givenBack = (row: GuessesRow, rule: Rule): GuessesRow =>
  rule === 'account' ? { ...row, count: Math.max(0, row.count - 1) } : none

const none: GuessesRow = { count: 0, nextAt: 0, endsAt: 0 }

/** For one process alone. What was guessed at longest ago is forgotten first. */
class MemoryCounts implements Counts {
  readonly #rows: BoundedCache<GuessesRow> = boundedCache(guessing.memoryBytes, () => 0)

  async take(targets: readonly Named[], now: number) {
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

/** Where other processes count as well. A row lives for some hours, and an address makes few of them in a minute. */
function rowCounts(db: Db): Counts {
  return {
    take: (targets, now) =>
      db.write(async tx => {
        const rows: GuessesRow[] = []
        for (const { subject } of targets) rows.push(await heldGuesses(tx, subject))
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
          await setGuesses(tx, subject, givenBack(await heldGuesses(tx, subject), rule))
        }
      }),
    forget: targets =>
      db.write(async tx => {
        for (const { subject } of targets) await setGuesses(tx, subject, none)
      }),
  }
}
