/** Asks questions on a terminal: on stderr, because stdout is only for results. */
import { UsageError } from '../../settings/config.ts'
import { exitCodes, Fault } from '../exit-codes.ts'
import { canAsk } from './output.ts'
import { fit } from './ui.ts'

type Question = { type: 'input' | 'password'; message: string; mask?: string }

const ask = async (question: Question): Promise<string> => {
  const prompt = await openPrompt()
  const { text } = await untilInterrupted(
    prompt<{ text: string }>([{ ...question, message: fit(question.message), name: 'text' } as never]),
  )
  return text
}

export type Prompt = ReturnType<typeof import('inquirer')['createPromptModule']>

export const openPrompt = async (): Promise<Prompt> =>
  (await import('inquirer')).createPromptModule({ output: process.stderr })

/** Ctrl-C at a question ends the command. `words` say what has become of its work. */
export async function untilInterrupted<T>(answer: Promise<T>, words = 'Interrupted'): Promise<T> {
  try {
    return await answer
  } catch (error) {
    // Inquirer's error for Ctrl-C, and for a terminal that gives no more.
    if ((error as Error).name !== 'ExitPromptError') throw error
    throw new Fault(words, { code: exitCodes.interrupted })
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
