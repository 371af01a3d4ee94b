/** For what is loaded into a server before it starts: whoever connects to an address of the internet reaches this machine. */
import net from 'node:net'
import tls from 'node:tls'

/** `isName`: the names that have the address. */
export function callHome(address, isName) {
  const { connect } = net
  const { connect: connectSecurely } = tls

  net.connect = (options, ...rest) => {
    if (options.host !== address) return connect(options, ...rest)
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: options.noDelay })
    Object.defineProperty(socket, 'remoteAddress', { value: address })
    return socket
  }

  tls.connect = (options, ...rest) =>
    isName(options.host)
      ? connectSecurely({ ...options, host: 'localhost', servername: 'localhost' })
      : connectSecurely(options, ...rest)
}
