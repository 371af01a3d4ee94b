/** Ports for agents and fronts that keep theirs: other programs have it in their settings, and in webhook URLs. */
import { createServer } from 'node:net'

/** Below those that systems give to whoever asks for any: else another program may have it before they listen, or after a restart. */
const FIRST_PORT = 20_000
const PORTS = 12_000
let next = 1_009 * process.pid

/** Returns a port of this machine that nobody has at this moment. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS; tried++) {
    const port = FIRST_PORT + (next++ % PORTS)
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${FIRST_PORT} on is free`)
}

export function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
