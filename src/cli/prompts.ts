/** Questions on a terminal. Results alone go to stdout, so they are asked on stderr. */
import { exitCodes, Fault } from './exit-codes.ts'

type Question = { type: 'input' | 'password'; message: string; mask?: string }

const ask = async (question: Question): Promise<string> => {
  const prompt = (await import('inquirer')).createPromptModule({ output: process.stderr })
  try {
    const { text } = await prompt<{ text: string }>([{ ...question, name: 'text' } as never])
    return text
  } catch (error) {
    // How inquirer tells of Ctrl-C.
    if ((error as Error).name !== 'ExitPromptError') throw error
    throw new Fault('Interrupted', { code: exitCodes.interrupted })
  }
}

export const askLine = (message: string) => ask({ type: 'input', message })

/** Shows nothing of what is typed. */
export const askHidden = (message: string) => ask({ type: 'password', message })
