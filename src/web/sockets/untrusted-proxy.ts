/** Notices a proxy that nobody has told the marketplace of: all clients behind it have one address, and share its limits and its waits. */
import type { IncomingMessage, Server } from 'node:http'
import ipaddr from 'ipaddr.js'
import type { Log } from '../../market/log.ts'
import type { Config } from '../../settings/config.ts'

/** Where a proxy of the operator's own stands. Anybody else may have made the header up. */
const NEAR: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'])

/** Says it once. In dev all requests are of this machine, and none has limits. */
export function warnOfUntrustedProxy(server: Server, { trustProxy, mode }: Config, log: Log): void {
  if (trustProxy > 0 || mode === 'dev') return
  const look = (req: IncomingMessage) => {
    const { remoteAddress: address } = req.socket
    if (req.headers['x-forwarded-for'] === undefined || !isNear(address)) return
    server.off('request', look)
    const message =
      `A request came through a proxy at ${address}, and no proxy is trusted: all clients behind it have one address, with one allowance and one wait after wrong passwords. ` +
      'Start with MARKETPLACE_TRUST_PROXY=1 (--trust-proxy 1), or with the number of proxies of yours if it is another.'
    log({ type: 'warning', message })
  }
  server.on('request', look)
}

const isNear = (address: string | undefined): boolean =>
  address !== undefined && ipaddr.isValid(address) && NEAR.has(ipaddr.process(address).range())
