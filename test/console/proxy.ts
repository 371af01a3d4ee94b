/** What stands between a browser and a marketplace, and may cut the stream of changes or let it stand still while it is open, and nothing else. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

const STREAM = 'GET /api/stream '

export async function openProxy(to: string) {
  const { hostname, port } = new URL(to)
  const all = new Set<Socket>()
  /** The browser's end of each, and the other. */
  const streams = new Map<Socket, Socket>()
  let isCut = false
  let isStill = false
  let opened = 0
  const server = createServer(near => {
    const far = connect(Number(port), hostname)
    const end = () => {
      near.destroy()
      far.destroy()
      all.delete(near)
      streams.delete(near)
    }
    all.add(near)
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    near.on('data', bytes => {
      if (!bytes.includes(STREAM)) return
      if (isCut) return end()
      opened++
      streams.set(near, far)
      if (isStill) far.unpipe(near)
    })
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Those that are open, and how many there were. */
    streams: () => ({ open: streams.size, opened }),
    /** The stream ends in its midst, and no other begins. */
    cut() {
      isCut = true
      for (const near of streams.keys()) near.resetAndDestroy()
    },
    /** Nothing comes any more, and nobody is told: as behind a router that has forgotten the connection. */
    stall() {
      isStill = true
      for (const [near, far] of streams) far.unpipe(near)
    },
    mend() {
      isCut = false
      isStill = false
    },
    async close() {
      for (const socket of all) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
