/**
 * Loaded into a server before it starts: `agent.example` has a public address, and whoever connects there reaches this
 * machine. So a real deployment, which calls public addresses alone, can call an agent of a test.
 */
import { promises as dns } from 'node:dns'
import net from 'node:net'
import tls from 'node:tls'

const NAME = 'agent.example'
const ADDRESS = '9.9.9.9'

const { lookup } = dns
const { connect } = net
const { connect: connectSecurely } = tls

dns.lookup = (name, options) =>
  name === NAME ? Promise.resolve([{ address: ADDRESS, family: 4 }]) : lookup(name, options)

net.connect = (options, ...rest) => {
  if (options.host !== ADDRESS) return connect(options, ...rest)
  const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: options.noDelay })
  Object.defineProperty(socket, 'remoteAddress', { value: ADDRESS })
  return socket
}

tls.connect = (options, ...rest) =>
  options.host === NAME
    ? connectSecurely({ ...options, host: 'localhost', servername: 'localhost' })
    : connectSecurely(options, ...rest)
