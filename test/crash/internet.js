/**
 * Loaded into a server before it starts: `agent.example` has a public address, and whoever connects there reaches this
 * machine. So a real deployment, which calls public addresses alone, can call an agent of a test.
 */
import { promises as dns } from 'node:dns'
import { callHome } from '../support/called-home.js'

const NAME = 'agent.example'
const ADDRESS = '9.9.9.9'

const { resolve4, resolve6 } = dns.Resolver.prototype

dns.Resolver.prototype.resolve4 = function (name, options) {
  return name === NAME ? Promise.resolve([{ address: ADDRESS, ttl: 60 }]) : resolve4.call(this, name, options)
}

dns.Resolver.prototype.resolve6 = function (name, options) {
  if (name !== NAME) return resolve6.call(this, name, options)
  return Promise.reject(Object.assign(new Error('It has none.'), { code: 'ENODATA' }))
}

callHome(ADDRESS, name => name === NAME)
