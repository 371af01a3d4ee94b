/** Says which parts of file names ran nothing, and why: a name that is wrong, or a file of another engine or length. */
import { type Job, jobsOf } from './jobs.ts'
import type { Length } from './length.ts'

export interface Asked {
  wanted: readonly string[]
  length: Length
  engine: string | undefined
}

/** The parts that no test file has in its name, each in a sentence. They are refused: a typing error must not pass. */
export function unknownParts(wanted: readonly string[], folder = 'test'): string[] {
  if (wanted.length === 0) return []
  const files = [...new Set(everyJob(folder).map(({ file }) => file))]
  const unknown = wanted.filter(part => !files.some(file => file.includes(part)))
  return unknown.map(part => {
    const last = part.split('/').at(-1)!
    const alike = last === '' ? [] : files.filter(file => file.includes(last)).slice(0, 3)
    const help = alike.length > 0 ? `Did you mean ${alike.join(' or ')}?` : `Names are those of ${folder}/.`
    return `No test file has "${part}" in its name. ${help}`
  })
}

/** The parts whose files do not run this time, each in a sentence. */
export function idleParts({ wanted, length, engine }: Asked, folder = 'test'): string[] {
  if (wanted.length === 0) return []
  const all = everyJob(folder)
  return wanted.flatMap(part => {
    const named = all.filter(({ file }) => file.includes(part))
    if (named.length === 0 || named.some(job => job.length === length && (engine ?? job.engine) === job.engine))
      return []
    const now = named.filter(job => job.length === length)
    if (now.length === 0) return [`not run: ${part} is for npm ${length === 'short' ? 'run test:long' : 'test'} alone`]
    return [`not run: ${part} has nothing for --engine ${engine}; leave that out`]
  })
}

const everyJob = (folder: string): Job[] =>
  (['short', 'long'] as const).flatMap(length => jobsOf(() => true, length, folder))
