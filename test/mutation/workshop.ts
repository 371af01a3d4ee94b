/** A copy of the project in which all mutants of a sample are there at once, each behind its switch. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Source } from './find.ts'
import type { Mutant } from './mutant.ts'
import { type Place, SWITCH_FILE, withSwitches } from './schemata.ts'
import { type User, usersOf } from './users.ts'

export interface Workshop {
  readonly folder: string
  /** The numbers that show that a mutant, given by its place in the sample, can have made a difference. */
  numbersOf(index: number): readonly number[]
  /** Those of all functions of its file. */
  neighboursOf(index: number): readonly number[]
  remove(): void
}

/** Also builds it, as tests start the built program. */
export function openWorkshop(sample: readonly Mutant[], sources: readonly Source[]): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-'))
  copyCheckout(folder)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  copyFileSync('test/mutation/switch.ts', join(folder, SWITCH_FILE))
  const entries = entriesOf(sample.length, sources)
  for (const { file, text, scene } of sources) {
    const mutants = sample.flatMap((mutant, number) => (mutant.file === file ? [{ number, mutant }] : []))
    const places: Place[] = [...mutants, ...entries.filter(entry => entry.file === file)]
    writeFileSync(join(folder, file), withSwitches(file, text, places, scene.openings))
  }
  build(folder)
  const numberOf = ({ file, body }: User) =>
    entries.find(entry => entry.file === file && entry.body.start === body.start)!.number
  return {
    folder,
    numbersOf(index) {
      const mutant = sample[index]!
      // Its own place is reached wherever it is loaded: a test may read a table itself.
      return mutant.within ? [index] : [index, ...usersOf(mutant, sources).map(numberOf)]
    },
    neighboursOf: index => entries.filter(({ file }) => file === sample[index]!.file).map(({ number }) => number),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A checkout of its own, as tests ask git what there is. */
function copyCheckout(folder: string): void {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' })
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], { encoding: 'utf8' })
  for (const name of listed.split('\0').filter(existsSync)) cpSync(name, join(folder, name), { recursive: true })
  git('init', '--quiet')
  git('add', '--all')
  git('-c', 'user.name=mutation', '-c', 'user.email=mutation@localhost', 'commit', '--quiet', '--message', 'As it is')
}

const entriesOf = (from: number, sources: readonly Source[]) =>
  sources
    .flatMap(({ file, scene }) => scene.bodies.map(body => ({ file, body })))
    .map((entry, i) => ({ ...entry, number: from + i }))

/** The compiler writes what it can't type as well: a switch makes types wider. */
function build(folder: string): void {
  const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: folder, stdio: 'pipe' })
  try {
    run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json')
  } catch {}
  run('--import', 'tsx', 'scripts/build/build.ts')
}
