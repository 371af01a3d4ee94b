/** What helps where the marketplace refuses the request of a row. */
import { nextSteps } from '../connection/next-steps.ts'
import { testFirst } from '../connection/test-advice.ts'
import { refusedWith } from './find-agent.ts'
import type { EndpointRow, Typed } from './row.ts'

interface Advice {
  readonly of: RegExp
  readonly status: number
  /** `flags`: those that reach the same marketplace. */
  hint(message: string, flags: string, words: readonly string[]): string | undefined
}

const known: readonly Advice[] = [
  {
    of: /^tasks /,
    status: 404,
    hint: (message, flags) =>
      message === 'No such task' ? `Yours are shown by: ${nextSteps.listTasks(flags)}` : undefined,
  },
  {
    of: /^agents reactivate$/,
    status: 400,
    hint: (message, flags, [agent = '']) => testFirst(message, agent, flags),
  },
]

export function advised<T>(asked: Promise<T>, { name }: EndpointRow, { words, way }: Typed): Promise<T> {
  const advice = known.find(({ of }) => of.test(name))
  if (!advice) return asked
  return refusedWith(asked, advice.status, message => advice.hint(message, way, words))
}
