/** Stands before a server, and may fall silent: connections stay open, and nothing comes through any more. */
import { once } from 'node:events'
import net from 'node:net'

export interface SilentProxy {
  /** The server's address, through the proxy. */
  url: string
  /** Nothing passes in either direction, also on new connections. */
  fallSilent(): void
  /** What was held passes now. */
  speak(): void
  close(): Promise<void>
}

export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<net.Socket>()
  /** Whose other side has gone meanwhile. */
  const left = new Set<net.Socket>()
  let isSilent = false
  const join = (from: net.Socket, to: net.Socket) => {
    sockets.add(from)
    from
      .on('data', piece => void to.write(piece))
      .on('error', () => {})
      .on('end', () => to.end())
      .on('close', () => {
        sockets.delete(from)
        if (isSilent) left.add(to)
        else to.destroy()
      })
    if (isSilent) from.pause()
  }
  const server = net.createServer(client => {
    const far = net.connect(Number(port), hostname)
    join(client, far)
    join(far, client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const through = new URL(url)
  through.port = String((server.address() as net.AddressInfo).port)
  return {
    url: through.href,
    fallSilent() {
      isSilent = true
      for (const socket of sockets) socket.pause()
    },
    speak() {
      isSilent = false
      for (const socket of sockets) socket.resume()
      for (const socket of left) socket.destroy()
      left.clear()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
