/** `marketplace clock`: shows and moves the clock of a simulator. Source: A-44. */
import { clockMoves } from '../../api/limits.ts'
import type { Client } from '../../client/typed-client.ts'
import { numberGiven } from '../command-line/json-input.ts'
import { type Connection, type ConnectionFlags, onSimulator } from '../connection/connection.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { durationGiven, durationInWords } from '../output/numbers.ts'
import { showProgress } from '../output/progress.ts'
import { plain } from '../output/ui.ts'
import { AgentWork, type TaskInHand } from '../simulation/agents-at-work.ts'
import {
  type Clock,
  type Due,
  dueInWords,
  type Move,
  moveOnce,
  nextIn,
  refuseStuck,
} from '../simulation/clock-steps.ts'

export interface AdvanceFlags extends ConnectionFlags {
  jump?: boolean
  wait?: string
}

export const show = (flags: ConnectionFlags) =>
  onClock(flags, async ({ client, out, answer }) => {
    const clock = await client.getClock()
    return answer(clock, () => out.table(linesOf(clock)))
  })

export async function advance(text: string, flags: AdvanceFlags): Promise<number> {
  const byMs = durationGiven(text)
  const moving = { jump: flags.jump === true, waitMs: flags.wait === undefined ? null : durationGiven(flags.wait) }
  return onClock(flags, connection => go(connection, byMs, moving))
}

export const next = (flags: ConnectionFlags) =>
  onClock(flags, async connection => {
    const { due, inMs } = nextIn(await connection.client.getClock())
    connection.notes.line(`Next: ${dueInWords(due)} at ${due.at}`)
    return go(connection, inMs, { jump: false, waitMs: null })
  })

export async function scale(times: string, flags: ConnectionFlags): Promise<number> {
  const wanted = numberGiven('The scale', times, [1, clockMoves.scale])
  return onClock(flags, async ({ client, out, answer }) => {
    const clock = await client.scaleClock({ scale: wanted })
    return answer(clock, () =>
      out.line(`Now ${clock.now}, ${wanted === 1 ? 'as fast as' : `${wanted} times as fast as`} real time.`),
    )
  })
}

const onClock = (flags: ConnectionFlags, work: (connection: Connection) => Promise<number>) =>
  onSimulator(flags, 'runs on real time: only the clock of a simulator can be moved', work)

interface Moving {
  jump: boolean
  /** How long to wait for agents at each moment; null: not at all. */
  waitMs: number | null
}

/** Moves from one moment at which something falls due to the next, so that each is printed as it happens. */
async function go(connection: Connection, byMs: number, { jump, waitMs }: Moving): Promise<number> {
  const { client, out, json, whenInterrupted } = connection
  const work = waitMs === null ? null : await AgentWork.follow(client)
  const progress = await showProgress(connection)
  const begin = Date.parse((await client.getClock()).now)
  let move: Move
  let left = byMs
  let fellDue = 0
  try {
    do {
      progress.wait('Waiting for what is due')
      move = await moveOnce(client, left, jump).finally(progress.clear)
      for (const due of move.done) printDue(connection, due, begin)
      if (move.omitted > 0) connection.notes.line(`… and ${move.omitted} more at the same moment`)
      fellDue += move.done.length + move.omitted
      const gone = Date.parse(move.now) - begin
      whenInterrupted(`Interrupted. The clock stands at ${move.now}, ${durationInWords(gone)} further.`)
      left = byMs - gone
      refuseStuck(move)
      if (work) await agentsDone(client, work, move, waitMs!)
    } while (left > 0)
  } finally {
    work?.close()
  }
  const { now, offsetMs } = move
  if (json) out.json({ type: 'end', success: true, data: { now, offsetMs, fellDue } })
  else out.line(`Now ${now}, ${durationInWords(offsetMs)} ahead of real time.`)
  return exitCodes.ok
}

/** Waits until no agent has a task in hand, and all that follows from their answers is done. */
async function agentsDone(client: Client, work: AgentWork, move: Move, waitMs: number): Promise<void> {
  const patience = AbortSignal.timeout(waitMs)
  for (let at = move; ; at = await moveOnce(client, 0)) {
    const { waited, left } = await work.done(at.now, patience)
    if (left.length > 0) throw stillAtWork(at.now, left, waitMs)
    if (!waited) return
  }
}

const NAMED = 10

function stillAtWork(now: string, left: readonly TaskInHand[], waitMs: number): Fault {
  const named = left.slice(0, NAMED).map(({ taskId, agentId }) => `${plain(taskId)} of ${plain(agentId)}`)
  const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : ''
  const message = `Still with their agents after ${durationInWords(waitMs)}: ${named.join(', ')}${more}. The clock stands at ${now}.`
  return new Fault(message, {
    code: exitCodes.failed,
    hint: `What one was sent, and how it answered: ${nextSteps.deliveries(plain(left[0]!.agentId))}`,
  })
}

function printDue({ out, json }: Connection, due: Due, begin: number): void {
  const after = `+${durationInWords(Math.max(0, Date.parse(due.at) - begin))}`
  if (json) out.json({ type: 'due', ...due })
  else out.line(`${out.colour.dim(after.padEnd(13))} ${dueInWords(due)}`)
}

function linesOf({ now, offsetMs, scale, next: due }: Clock): string[][] {
  const more = due && due.alike > 0 ? `, and ${due.alike} more` : ''
  return [
    ['now', now],
    ['ahead of real time', offsetMs < 1_000 ? '-' : durationInWords(offsetMs)],
    ['runs', scale === 1 ? 'as fast as real time' : `${scale} times as fast as real time`],
    ['due next', due ? `${dueInWords(due)} at ${due.at}${more}` : '-'],
  ]
}
