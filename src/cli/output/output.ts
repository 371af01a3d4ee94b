/** The output of a command: results on stdout, everything else on stderr; and how Ctrl-C ends it. */

import { exitCodes, Fault } from '../exit-codes.ts'
import { withSystemReason } from './disk-faults.ts'
import { clearProgress } from './progress.ts'
import { createUi, type Ui } from './ui.ts'

export interface AnswerFlags {
  json?: boolean
}

export interface CommandOutput {
  readonly out: Ui
  readonly notes: Ui
  readonly json: boolean
  /** Prints a result: with --json in the envelope of the interface, else by `show`. */
  answer(data: unknown, show: () => void): number
  /** Sets the message for Ctrl-C, once there is something to clean up. */
  whenInterrupted(text: string): void
  /** The first Ctrl-C, or SIGTERM, calls this in place of the end. The second ends the command. */
  onInterrupt(work: () => void): void
}

/** Ctrl-C, and what `timeout` and a pipeline send that is cancelled. */
const INTERRUPTS = ['SIGINT', 'SIGTERM'] as const

/** Runs `work`. With --json an error is printed as an envelope; else it is thrown, and `main` prints it. */
export async function withOutput(
  flags: AnswerFlags,
  work: (output: CommandOutput) => Promise<number>,
): Promise<number> {
  const json = flags.json === true
  const out = createUi()
  const notes = createUi(process.stderr)
  let farewell = 'Interrupted.'
  let first: (() => void) | null = null
  const interrupt = () => {
    if (first) {
      first()
      first = null
      return
    }
    clearProgress()
    notes.line(`\n${farewell}`)
    process.exit(exitCodes.interrupted)
  }
  for (const signal of INTERRUPTS) process.on(signal, interrupt)
  const output: CommandOutput = {
    out,
    notes,
    json,
    answer(data, show) {
      if (json) out.json({ success: true, data })
      else show()
      return exitCodes.ok
    },
    whenInterrupted(text) {
      farewell = text
    },
    onInterrupt(work) {
      first = work
    },
  }
  try {
    return await work(output)
  } catch (thrown) {
    const error = thrown instanceof Error ? withSystemReason(thrown) : thrown
    if (json) {
      out.json(failure(error))
      markPrinted(error)
    }
    throw error
  } finally {
    for (const signal of INTERRUPTS) process.off(signal, interrupt)
  }
}

/** Errors that the command has printed itself for programs. */
const printed = new WeakSet<object>()
export const markPrinted = (error: unknown) => void printed.add(error as object)
export const isPrinted = (error: unknown) => printed.has(error as object)

/** An error as programs get it: the envelope of the interface, with a hint. */
export function failure(error: unknown) {
  const { message, hint: advice } = error as Error & { hint?: string }
  if (!(error instanceof Fault)) return { success: false, error: message, ...(advice && { hint: advice }) }
  const { status, errors, hint } = error.details
  return { success: false, error: message, ...(status && { status }), ...(errors && { errors }), ...(hint && { hint }) }
}

/** Whether the command may ask questions: only on a terminal. */
export const canAsk = () => Boolean(process.stdin.isTTY && process.stderr.isTTY)
