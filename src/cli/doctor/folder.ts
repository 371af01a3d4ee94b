/** Looks at what a dev keeps in this folder: who has its database, and who can read its keys. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { knownLifeOf, readOwner } from '../../store/embedded/lock-owner.ts'
import { plain } from '../output/ui.ts'
import { failed, ok, type SetupFinding, warning } from './finding.ts'

/** `answers`: the dev of this folder does. */
export async function lockFinding(file: string, answers: boolean): Promise<SetupFinding> {
  const path = `${file}.lock`
  const owner = await readOwner(path)
  if (owner === undefined) return ok('database', `Nobody has ${file} open`)
  if (owner === null) return warning('database', `${path} can't be read`, 'The next start decides who has the database')
  const who = `${plain(owner.holder)} (process ${owner.pid}, since ${owner.startedAt})`
  const life = await knownLifeOf(owner, path)
  if (life === 'gone') return ok('database', `${file} was left by ${who}; the next start takes it over`)
  if (life === undefined)
    return warning('database', `${file} is held by ${who}, elsewhere`, 'If that has ended, wait some seconds')
  if (answers) return ok('database', `${file} is held by ${who}`)
  return warning(
    'database',
    `${file} is held by ${who}, and the address of this folder's dev does not answer`,
    `Use that one, or end it: kill ${owner.pid}`,
  )
}

/** The file holds passwords and keys. */
export function rightsFindings(file: string): SetupFinding[] {
  if (process.platform === 'win32' || !existsSync(file)) return []
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o077) === 0) return [ok('rights', `Only you can read ${file}`)]
  const finding = failed('rights', `Others on this machine can read ${file} (${mode.toString(8)})`, `chmod 600 ${file}`)
  return [{ ...finding, mend: () => chmodSync(file, 0o600) }]
}

/** Nothing is said where there is no git, no repository, or no such file. */
export function gitFindings(file: string): SetupFinding[] {
  if (!existsSync(file)) return []
  const isIgnored = ignoredByGit(file)
  if (isIgnored === null) return []
  if (isIgnored) return [ok('git', `git leaves out ${file}`)]
  const folder = dirname(file)
  const finding = failed(
    'git',
    `The next commit takes ${file} with it, and the keys in it`,
    `echo '*' > ${folder}/.gitignore`,
  )
  return [{ ...finding, mend: () => writeFileSync(join(folder, '.gitignore'), '*\n') }]
}

function ignoredByGit(file: string): boolean | null {
  try {
    execFileSync('git', ['check-ignore', '--quiet', file], { stdio: 'ignore' })
    return true
  } catch (error) {
    return (error as { status?: number }).status === 1 ? false : null
  }
}
