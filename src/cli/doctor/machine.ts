/** Looks at the machine: Node, the port of a dev, whether this is a container. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { Transport } from '../../client/transport.ts'
import { isLoopbackName, requiredNode } from '../../settings/config.ts'
import { instanceAt } from '../connection/instance-check.ts'
import { fromContainer, nextSteps } from '../connection/next-steps.ts'
import { plain } from '../output/ui.ts'
import { failed, ok, type SetupFinding, warning } from './finding.ts'
import { portOwner } from './port-owner.ts'

/** The last day of each line of Node that is maintained for long. Odd numbers never are. */
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

/** `instance`: the database of the dev of this folder, if there is one. */
export async function portFinding(host: string, port: number, instance: string | undefined): Promise<SetupFinding> {
  const fault = await listenFault(host, port)
  if (fault === null) return ok('port', `Port ${port} is free`)
  const other = `Give dev another: ${nextSteps.startDev()} --port 0`
  if (fault !== 'EADDRINUSE') return failed('port', `Port ${port} of ${host} can't be used (${fault})`, other)
  const there = await instanceAt(new Transport({ baseUrl: `http://${host}:${port}` })).catch(() => null)
  if (there !== null && there === instance) return ok('port', `Port ${port} is that of the dev of this folder`)
  const owner = portOwner(port)
  const whose = owner ? `: ${plain(owner.command)} (process ${owner.pid})` : ''
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
