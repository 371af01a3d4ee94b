/** The mutants of whole rooms, and a fair sample of them: the same for the same source and seed, on every machine. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { type Scene, sceneOf } from './find.ts'
import { type Mutant, nameOf } from './mutant.ts'

export interface Source {
  readonly file: string
  readonly text: string
  readonly scene: Scene
}

/** Of folders of src, by name. */
export const sourcesOf = (rooms: readonly string[], root = 'src'): Source[] =>
  rooms.flatMap(room =>
    readdirSync(posix.join(root, room), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .sort()
      .map(name => {
        const file = posix.join(root, room, name)
        const text = readFileSync(file, 'utf8')
        return { file, text, scene: sceneOf(file, text) }
      }),
  )

/** `count` of them, each as likely as any other, in an order of chance. */
export function sampleOf(mutants: readonly Mutant[], seed: number, count: number): Mutant[] {
  // Each has a rank of its own, so that a change elsewhere does not deal all of them anew.
  const rank = (mutant: Mutant) =>
    createHash('sha256')
      .update(`${seed} ${nameOf(mutant)}`)
      .digest('hex')
  return mutants
    .map(mutant => ({ mutant, rank: rank(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant)
}
