/**
 * Loaded into a server before it starts. Names under `.example` have public addresses, and whoever connects there reaches
 * this machine: the agents of the test, and a listener that never answers. A name that begins with `silent-` is asked of a name server
 * that never says a word of it.
 */
import dns from 'node:dns'
import { callHome } from '../support/called-home.js'

callHome('9.9.9.9', name => name?.endsWith('.example'))

const { Resolver } = dns.promises
dns.promises.Resolver = class extends Resolver {
  constructor(options) {
    super(options)
    this.setServers([process.env.NEIGHBOUR_NAME_SERVER])
  }
}
