/** Asks questions on a terminal: on stderr, because stdout is only for results. */
import { UsageError } from '../config.ts'
import { exitCodes, Fault } from './exit-codes.ts'
import { canAsk } from './output.ts'

type Question = { type: 'input' | 'password'; message: string; mask?: string }

const ask = async (question: Question): Promise<string> => {
  const prompt = (await import('inquirer')).createPromptModule({ output: process.stderr })
  try {
    const { text } = await prompt<{ text: string }>([{ ...question, name: 'text' } as never])
    return text
  } catch (error) {
    // Inquirer's error for Ctrl-C.
    if ((error as Error).name !== 'ExitPromptError') throw error
    throw new Fault('Interrupted', { code: exitCodes.interrupted })
  }
}

export const askLine = (message: string) => ask({ type: 'input', message })

export const askYes = async (message: string) => /^y(?:es)?$/i.test((await askLine(`${message} (y/N)`)).trim())

/**
 * Returns a function that asks whether to do what can't be undone; it throws if the answer is no. Throws a UsageError at
 * once where it could not ask. `act`: the end of "This …"; undefined if it can be undone.
 */
export function confirmed(command: string, act: string | undefined, flags: { yes?: unknown; json?: boolean }) {
  if (act === undefined || flags.yes) return async () => {}
  if (flags.json || !canAsk()) {
    throw new UsageError(`This ${act}, and nobody can be asked here: add --yes to ${command} if it is meant.`)
  }
  return async () => {
    if (await askYes(`This ${act}. Go on?`)) return
    throw new Fault('Nothing was changed', { code: exitCodes.failed })
  }
}

/** Asks without showing what is typed. */
export const askHidden = (message: string) => ask({ type: 'password', message })
