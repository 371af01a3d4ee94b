/** Asks questions on a terminal: on stderr, because stdout is only for results. */
import { exitCodes, Fault } from './exit-codes.ts'

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

/** Asks without showing what is typed. */
export const askHidden = (message: string) => ask({ type: 'password', message })
