/** Looks at the machine: Node, the port of a dev, whether this is a container. */

import { execFileSync } from 'node:child_process'
/** The last day of each line of Node that is maintained for long. Odd numbers never are. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { Transport } from '../../client/transport.ts'
import { isLoopbackName, requiredNode } from '../../settings/config.ts'
import { knownLifeOf, readOwner } from '../../store/embedded/lock-owner.ts'
import { instanceAt } from '../connection/instance-check.ts'
import { fromContainer, nextSteps } from '../connection/next-steps.ts'
import { plain } from '../output/ui.ts'
import { failed, ok, type SetupFinding, warning } from './finding.ts'
import { portOwner } from './port-owner.ts'

const lastDays: Readonly<Record<number, string>> = { 20: '2026-04-30', 22: '2027-04-30', 24: '2028-04-30' }
const NODE_FIX = 'Install Node 24 or 22: https://nodejs.org'

/** `version` without the v; `now` in ms. */
export function nodeFinding(version: string, now: number): SetupFinding {
  const [major = 0] = version.split('.').map(Number)
  const required = requiredNode()
  if (compare(version, required) < 0) return failed('node', `Node ${version} is older than ${required}`, NODE_FIX)
  const lastDay = lastDays[major]
  if (major % 2 === 1)
    return warning('node', `Node ${version} is of a line that is never maintained for long`, NODE_FIX)
  if (lastDay !== undefined && now > Date.parse(lastDay))
    return warning('node', `Node ${version} gets no security fixes since ${lastDay}`, NODE_FIX)
  return ok('node', `Node ${version}`)
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map(text => text.split('.').map(Number)) as [number[], number[]]
  const at = right.findIndex((part, index) => part !== left[index])
  return at < 0 ? 0 : left[at]! - right[at]!
}

/** `instance`: the database of the dev of this folder, if there is one. `other`: what to do if the port can't be had. */
export async function portFinding(
  host: string,
  port: number,
  instance: string | undefined,
  other = `Give dev another: ${nextSteps.startDev()} --port 0`,
  folder = process.cwd(),
): Promise<SetupFinding> {
  const fault = await listenFault(host, port)
  if (fault === null) return ok('port', `Port ${port} is free`)
  if (fault !== 'EADDRINUSE') return failed('port', `Port ${port} of ${host} can't be used (${fault})`, other)
  const there = await instanceAt(new Transport({ baseUrl: `http://${host}:${port}` })).catch(() => null)
  if (there !== null && there === instance) return ok('port', `Port ${port} is that of the dev of this folder`)
  const owner = portOwner(port)
  const whose = owner ? `: ${plain(owner.command)} (process ${owner.pid})` : ''
  // One whose database was named by a flag leaves nothing in its folder.
  if (there !== null && owner?.folder === folder) {
    const words = `Port ${port} is that of the marketplace which was started in this folder${whose}`
    return warning('port', words, `Look at it: ${nextSteps.examine(`http://${host}:${port}`)}`)
  }
  return warning(
    'port',
    `Port ${port} is taken by ${there === null ? 'another program' : 'another marketplace'}${whose}`,
    other,
  )
}

function listenFault(host: string, port: number): Promise<string | null> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

/** What container engines leave in every container. */
const MARKS = ['/.dockerenv', '/run/.containerenv']
export const inContainer = () => MARKS.some(path => existsSync(path))

/** For a marketplace that does not answer: in a container `localhost` is the container. */
export function containerFinding(isInside: boolean, url: string): SetupFinding[] {
  const { hostname } = new URL(url)
  if (!isInside || !isLoopbackName(hostname)) return []
  return [
    warning(
      'container',
      `This is a container, and ${hostname} is the container itself`,
      `If the marketplace runs on the host: export MARKETPLACE_URL=${fromContainer(url)}, and there ${nextSteps.startForContainer(url)}`,
    ),
  ]
}

/** Looks at what a dev keeps in this folder: who has its database, and who can read its keys. `answers`: the dev does. */
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

/** Who has a database open, in words; undefined if nobody has. */
export async function holderOf(file: string): Promise<string | undefined> {
  const path = `${file}.lock`
  const owner = await readOwner(path)
  return owner && (await knownLifeOf(owner, path)) !== 'gone' ? owner.holder : undefined
}

/** The `.env` of this folder, if it holds a secret. */
export function secretEnv(): string[] {
  try {
    return SECRET.test(readFileSync('.env', 'utf8')) ? ['.env'] : []
  } catch {
    return []
  }
}

const SECRET = /(?:KEY|SECRET|PASSWORD|TOKEN)\w*\s*=\s*\S|:\/\/[^\s/@]+:[^\s/@]+@/

/** Of files that hold passwords and keys. */
export function rightsFindings(files: readonly string[]): SetupFinding[] {
  const there =
    process.platform === 'win32' ? [] : files.filter(file => statSync(file, { throwIfNoEntry: false })?.isFile())
  const open = there.filter(file => (statSync(file).mode & 0o077) !== 0)
  if (there.length > 0 && open.length === 0) return [ok('rights', `Only you can read ${there.join(', ')}`)]
  return open.map(file => {
    const mode = (statSync(file).mode & 0o777).toString(8)
    const finding = failed('rights', `Others on this machine can read ${file} (${mode})`, `chmod 600 ${file}`)
    return { ...finding, mend: () => chmodSync(file, 0o600) }
  })
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
