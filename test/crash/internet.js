/**
 * Loaded into a server before it starts: `agent.example` has a public address, and whoever connects there reaches this
 * machine. So a real deployment, which calls public addresses alone, can call an agent of a test.
 */
import { promises as dns } from 'node:dns'
import net from 'node:net'
import tls from 'node:tls'

const NAME = 'agent.example'
const ADDRESS = '9.9.9.9'

const { resolve4, resolve6 } = dns.Resolver.prototype
const { connect } = net
const { connect: connectSecurely } = tls

dns.Resolver.prototype.resolve4 = function (name, options) {
  return name === NAME ? Promise.resolve([{ address: ADDRESS, ttl: 60 }]) : resolve4.call(this, name, options)
}

dns.Resolver.prototype.resolve6 = function (name, options) {
  if (name !== NAME) return resolve6.call(this, name, options)
  return Promise.reject(Object.assign(new Error('It has none.'), { code: 'ENODATA' }))
}

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
