/**
 * Loaded into a server before it starts. Names under `.example` have public addresses, and whoever connects there reaches
 * this machine: the agents of the test, and a listener that never answers. A name that begins with `silent-` is asked of a name server
 * that never says a word of it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import dns from 'node:dns'
import { openSync, readSync, writeFileSync } from 'node:fs'
import { createHistogram } from 'node:perf_hooks'
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

// How long the thread of the server was held at a time, from the first request on: told when it ends. The time in which the machine gave it no processor is not its own,
// where the system tells it: attackers and honest people of the test are on the same two processors.
const { NEIGHBOUR_HELD } = process.env
if (NEIGHBOUR_HELD && isMainThread) {
  const FIRST_REQUEST = 'http.server.request.start'
  const held = createHistogram()
  const begin = () => {
    unsubscribe(FIRST_REQUEST, begin)
    watch(held)
  }
  subscribe(FIRST_REQUEST, begin)
  const ms = micros => Math.round(micros / 100) / 10
  process.once('exit', () => {
    const [p99, p999] = [held.percentile(99), held.percentile(99.9)].map(ms)
    writeFileSync(NEIGHBOUR_HELD, JSON.stringify({ p99, p999, max: ms(held.max) }))
  })
}

function watch(held) {
  const EVERY_MS = 2
  const waited = waitsForProcessor()
  let [at, waitedBefore] = [performance.now(), waited()]
  setInterval(() => {
    const [now, waitedNow] = [performance.now(), waited()]
    const ms = now - at - EVERY_MS - (waitedNow - waitedBefore)
    held.record(Math.max(1, Math.round(ms * 1_000)))
    ;[at, waitedBefore] = [now, waitedNow]
  }, EVERY_MS).unref()
}

/** A clock of the ms that this thread was ready to go on and got no processor; stands still where no system tells. */
function waitsForProcessor() {
  let file
  try {
    file = openSync('/proc/thread-self/schedstat')
  } catch {
    return () => 0
  }
  const bytes = Buffer.alloc(64)
  return () => Number(bytes.latin1Slice(0, readSync(file, bytes, 0, 64, 0)).split(' ')[1]) / 1e6
}
