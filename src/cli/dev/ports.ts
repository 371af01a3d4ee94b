/** The port that the agent of `--run` keeps. */
import { freePort, isFree } from '../../sim/agents/free-port.ts'
import type { Kept } from './state-folder.ts'

/** Returns where the agent of `--run` has to listen: the port of the start before, or another free one. */
export async function addressFor(name: string, kept: Kept | null): Promise<string> {
  const before = kept?.agents.find(({ slug }) => slug === name)?.forwardTo
  const port = before ? Number(new URL(before).port) : 0
  return `http://localhost:${port > 0 && (await isFree(port)) ? port : await freePort()}/webhook`
}
