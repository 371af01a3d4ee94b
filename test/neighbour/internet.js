/**
 * Loaded into a server before it starts. Names under `.example` have public addresses, and whoever connects there reaches
 * this machine: the agents of the test, and a listener that never answers. A name that begins with `silent-` is asked of a name server
 * that never says a word of it.
 */
import dns from 'node:dns'
import net from 'node:net'
import tls from 'node:tls'

const PUBLIC = '9.9.9.9'
const { connect } = net
const { connect: connectSecurely } = tls

net.connect = (options, ...rest) => {
  if (options.host !== PUBLIC) return connect(options, ...rest)
  const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: options.noDelay })
  Object.defineProperty(socket, 'remoteAddress', { value: PUBLIC })
  return socket
}

tls.connect = (options, ...rest) =>
  options.host?.endsWith('.example')
    ? connectSecurely({ ...options, host: 'localhost', servername: 'localhost' })
    : connectSecurely(options, ...rest)

const { Resolver } = dns.promises
dns.promises.Resolver = class extends Resolver {
  constructor(options) {
    super(options)
    this.setServers([process.env.NEIGHBOUR_NAME_SERVER])
  }
}
