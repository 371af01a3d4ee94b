/** Where a command that answers writes: results on stdout, talk on stderr, and how it is interrupted. */
import { exitCodes, Fault } from './exit-codes.ts'
import { createUi, type Ui } from './ui.ts'

export interface AnswerFlags {
  json?: boolean
}

export interface Desk {
  readonly out: Ui
  readonly talk: Ui
  readonly json: boolean
  /** Prints a result: for programs in the envelope of the interface, for people as `show` does. */
  answer(data: unknown, show: () => void): number
  /** What there is to say at Ctrl-C, once there is something to clean up. */
  whenInterrupted(text: string): void
}

/** Runs `work`. What goes wrong goes to programs as an envelope, and is thrown for main to tell people. */
export async function atDesk(flags: AnswerFlags, work: (desk: Desk) => Promise<number>): Promise<number> {
  const json = flags.json === true
  const out = createUi()
  const talk = createUi(process.stderr)
  let farewell = 'Interrupted.'
  const interrupt = () => {
    talk.line(`\n${farewell}`)
    process.exit(exitCodes.interrupted)
  }
  process.once('SIGINT', interrupt)
  const desk: Desk = {
    out,
    talk,
    json,
    answer(data, show) {
      if (json) out.json({ success: true, data })
      else show()
      return exitCodes.ok
    },
    whenInterrupted(text) {
      farewell = text
    },
  }
  try {
    return await work(desk)
  } catch (error) {
    if (json) out.json(failure(error))
    throw error
  } finally {
    process.off('SIGINT', interrupt)
  }
}

function failure(error: unknown) {
  const { message } = error as Error
  if (!(error instanceof Fault)) return { success: false, error: message }
  const { status, errors, hint } = error.details
  return { success: false, error: message, ...(status && { status }), ...(errors && { errors }), ...(hint && { hint }) }
}

/** Whether somebody is there to be asked. Never a prompt off a terminal. */
export const canAsk = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)
