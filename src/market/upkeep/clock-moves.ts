/**
 * Moves the simulator's clock from one moment at which something falls due to the next, and does it before it goes on. So
 * everything happens in order and at its own time. Source.
 */
import { clockMoves, durations } from '../../api/limits.ts'
import type { Reader, Tx } from '../../store/db.ts'
import { setSetting, settingNamed } from '../../store/tables/upkeep/settings.ts'
import type { World } from '../../world/world.ts'
import { Activity, type UnderWay } from '../activity.ts'
import type { Market } from '../market.ts'
import { iso } from '../time.ts'
import { ClockFollowers } from './clock-followers.ts'
import { type DueMoment, type DueThing, nextMoment } from './timetable.ts'

export interface MoveOptions {
  /** Stops after this many moments at which something fell due. */
  readonly steps?: number | undefined
  /** Goes to the end at once. What falls due on the way is done there. */
  readonly jump?: boolean | undefined
  /** Aborted when nobody waits for the move any more. */
  readonly gone?: AbortSignal | undefined
}

/** `steps`: as asked. `time`: the bound of one move was reached. `under_way`: it was reached while something was not done. */
interface Stop {
  readonly reason: 'steps' | 'time' | 'under_way'
  readonly underWay: UnderWay[]
}

interface Move {
  /** What fell due, in order. */
  readonly done: (DueThing & { readonly at: string })[]
  /** How many more did. */
  readonly omitted: number
  /** Why the move ended before its time; null if it did not. */
  readonly stopped: Stop | null
}

const OFFSET = 'clock_offset_ms'

/** How far the clock was ahead of the machine's when it was moved last, in this process or an earlier one. */
export const clockOffset = async (q: Reader) => Number((await settingNamed(q, OFFSET)) ?? 0)

const saveOffset = ({ db, world }: Market) =>
  db.write((tx: Tx) => setSetting(tx, OFFSET, String(world.now() - world.realNow())))

/** One move at a time. */
class MoveQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }
}

/** Moves domain time to `to`. Meanwhile it stands still but for the moves, however long the work takes. */
export function moveClockTo(market: Market, to: number, options: MoveOptions = {}): Promise<Move> {
  const { world, memory, background } = market
  const bound = boundOf(world)
  return memory.of(MoveQueue).run(async () => {
    const startClock = world.stopClock()
    background.isHurried = true
    try {
      return await new ClockMove(market, bound, options).to(to)
    } finally {
      background.isHurried = false
      startClock()
      bound.cancel()
    }
  })
}

interface Bound {
  readonly isOver: boolean
  /** Resolves to whether the work is done; false at the bound. */
  inTime(work: Promise<void>): Promise<boolean>
  cancel(): void
}

function boundOf(world: World): Bound {
  let isOver = false
  let end = () => {}
  const over = new Promise<void>(resolve => {
    end = resolve
  })
  const timer = world.after(durations.clockMoveMs, () => {
    isOver = true
    end()
  })
  return {
    get isOver() {
      return isOver
    },
    inTime: work => Promise.race([work.then(() => true), over.then(() => false)]),
    cancel: () => timer.cancel(),
  }
}

class ClockMove {
  readonly #market: Market
  readonly #bound: Bound
  readonly #options: MoveOptions
  readonly #done: Move['done'] = []
  #omitted = 0

  constructor(market: Market, bound: Bound, options: MoveOptions) {
    this.#market = market
    this.#bound = bound
    this.#options = options
  }

  async to(end: number): Promise<Move> {
    const { steps, jump, gone } = this.#options
    // What is due already comes first.
    if (!jump && !(await this.#doDue())) return this.#stopped('under_way')
    let at = this.#market.world.now()
    for (let step = 0; !jump; step++) {
      const next = await this.#next(at)
      if (next === null || next.at > end) break
      if (step === steps) return this.#stopped('steps')
      if (this.#bound.isOver) return this.#stopped('time')
      gone?.throwIfAborted()
      at = next.at
      await this.#setTo(at)
      this.#note(next)
      if (!(await this.#doDue())) return this.#stopped('under_way')
    }
    await this.#setTo(end)
    return (await this.#doDue(false)) ? this.#result(null) : this.#stopped('under_way')
  }

  #next(after: number) {
    const { db } = this.#market
    return db.read(q => nextMoment(q, this.#market, after, clockMoves.listed))
  }

  /** The offset is stored before anything happens at the new time: a later start must not go back behind it. */
  async #setTo(time: number): Promise<void> {
    this.#market.world.advance(time)
    await saveOffset(this.#market)
  }

  #note({ at, things, total }: DueMoment): void {
    const listed = things.slice(0, clockMoves.listed - this.#done.length)
    for (const thing of listed) this.#done.push({ at: iso(at), ...thing })
    this.#omitted += total - listed.length
  }

  /** Does what is due, and returns whether all of it is done within the bound. */
  #doDue(isMoving = true): Promise<boolean> {
    const { background, memory, log, settled } = this.#market
    const fail = (error: Error) =>
      log({ type: 'error', message: `What fell due by the clock could not be done: ${error.message}` })
    const work = async () => {
      await background.run().catch(fail)
      await settled()
      await memory.of(ClockFollowers).act(isMoving)
      await settled()
    }
    return this.#bound.inTime(work())
  }

  #stopped(reason: Stop['reason']): Move {
    const underWay = reason === 'under_way' ? this.#market.memory.of(Activity).first(clockMoves.named) : []
    return this.#result({ reason, underWay })
  }

  #result(stopped: Stop | null): Move {
    return { done: this.#done, omitted: this.#omitted, stopped }
  }
}
