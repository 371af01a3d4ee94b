/** Free ports of this machine. */

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { Kept } from './state-folder.ts'

/** Returns where the agent of `--run` has to listen: the port of the start before, or another free one. */
export async function addressFor(name: string, kept: Kept | null): Promise<string> {
  const before = kept?.agents.find(({ slug }) => slug === name)?.forwardTo
  const port = (before && (await freePort(Number(new URL(before).port)))) || (await freePort(0))
  return `http://localhost:${port}/webhook`
}

/** Returns the port if nobody listens there; null otherwise. 0 stands for any. */
function freePort(port: number): Promise<number | null> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => {
      const { port: found } = server.address() as AddressInfo
      server.close(() => resolve(found))
    })
  })
}
