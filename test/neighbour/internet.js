/**
 * Loaded into a server before it starts. Names under `.example` have public addresses, and whoever connects there reaches
 * this machine: the agents of the test, and a listener that never answers. A name that begins with `silent-` is asked of a name server
 * that never says a word of it.
 */
import dns from 'node:dns'
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import { callHome } from '../support/called-home.js'

callHome('9.9.9.9', name => name?.endsWith('.example'))

const { Resolver } = dns.promises
dns.promises.Resolver = class extends Resolver {
  constructor(options) {
    super(options)
    this.setServers([process.env.NEIGHBOUR_NAME_SERVER])
  }
}

// How long the thread of the server was held at a time: told when it ends.
const { NEIGHBOUR_HELD } = process.env
if (NEIGHBOUR_HELD && isMainThread) {
  const resolution = 1
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  const ms = nanoseconds => Math.round(nanoseconds / 1e5) / 10
  process.once('exit', () => {
    const [p99, p999] = [delays.percentile(99), delays.percentile(99.9)].map(ms)
    writeFileSync(NEIGHBOUR_HELD, JSON.stringify({ p99, p999, max: ms(delays.max) }))
  })
}
