/**
 * Serves the metrics: in the simulator to everyone, in a deployment with a token or on a port of this machine. Source: A-7.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import http from 'node:http'
import type { Market } from '../market/market.ts'
import { readFigures } from '../market/upkeep/gauges.ts'
import { isLoopbackHost } from './credentials.ts'
import { METRICS_TYPE } from './exposition.ts'
import type { Metrics } from './metrics.ts'
import type { WebPage } from './server.ts'
import { listen } from './sockets/listen.ts'

/** `/metrics` on the marketplace's own port. Without the token the response is 404. */
export function metricsPage(market: Market, metrics: Metrics, token: string | undefined): WebPage {
  const isOpen = market.config.mode === 'dev'
  return async ({ headers }) => {
    if (!isOpen && !(token && isBearer(headers.authorization, token))) return null
    return { type: METRICS_TYPE, body: metrics.text(await readFigures(market)) }
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest()

function isBearer(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

/** Starts a second server on the loopback address with only `/metrics`, open to every process on this machine. */
export async function serveMetrics(market: Market, metrics: Metrics, port: number): Promise<MetricsServer> {
  const server = http.createServer(async ({ url, method, headers }, res) => {
    try {
      // A web page can make a browser on this machine call this port, but only with its own host name.
      const found = url === '/metrics' && method === 'GET' && isLoopbackHost(headers.host ?? '')
      if (!found) return void res.writeHead(404).end()
      const text = metrics.text(await readFigures(market))
      res.writeHead(200, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' }).end(text)
    } catch {
      res.writeHead(500).end()
    }
  })
  const { port: bound } = await listen(server, { host: '127.0.0.1', port, flag: '--metrics-port' })
  return {
    port: bound,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
