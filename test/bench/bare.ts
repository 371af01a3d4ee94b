/** The other side: a bare polka server, a TLS sink that takes webhooks, a bare undici pool that posts them. */
import type { IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import polka from 'polka'
import { Pool } from 'undici'
import { makeCertificate } from './certificate.ts'
import { answer } from './worker.ts'

const JSON_TYPE = 'application/json; charset=utf-8'
let pages = new Map<string, Buffer>()
let sink: https.Server | undefined
let listening = false
let heard: Heard[] = []
const arrivals = new Map<string, bigint>()
let requests = 0

answer({
  /** Serves what `pages` holds under its URL, and echoes JSON on POST /echo. */
  async serve() {
    const app = polka()
    app.get('/*', (req, res) => {
      const body = pages.get(req.url)!
      res.writeHead(200, ['content-type', JSON_TYPE, 'content-length', String(body.length)])
      res.end(body)
    })
    app.post('/echo', (req, res) => {
      const chunks: Buffer[] = []
      req.on('data', chunk => chunks.push(chunk))
      req.on('end', () => {
        const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
        res.writeHead(200, ['content-type', JSON_TYPE, 'content-length', String(Buffer.byteLength(text))])
        res.end(text)
      })
    })
    await new Promise<void>(resolve => void app.listen(0, '127.0.0.1', () => resolve()))
    return (app.server!.address() as AddressInfo).port
  },

  pages(given: Record<string, string>) {
    pages = new Map(Object.entries(given).map(([url, body]) => [url, Buffer.from(body)]))
  },

  /** Takes webhooks under `names`, reads them whole and answers 200. */
  async sink(names: string[]) {
    const { ca, ...credentials } = await makeCertificate(names)
    sink = https.createServer(credentials, (req, res) => {
      const id = req.headers['x-service-delivery-id']
      if (typeof id === 'string') requests++
      if (!listening && typeof id === 'string') arrivals.set(id, process.hrtime.bigint())
      const chunks: Buffer[] = []
      req.on('data', chunk => listening && chunks.push(chunk))
      req.on('end', () => {
        if (listening) heard.push({ body: Buffer.concat(chunks).toString(), headers: ownHeaders(req.headers) })
        res.writeHead(200, ['content-length', '2']).end('ok')
      })
    })
    sink.keepAliveTimeout = 60_000
    await new Promise<void>(resolve => sink!.listen(0, '127.0.0.1', resolve))
    return { sinkPort: (sink.address() as AddressInfo).port, ca }
  },

  /** Keeps what comes from now on, for `heard`. */
  listen() {
    listening = true
    heard = []
  },

  heard() {
    listening = false
    return heard
  },

  /** When each delivery came. */
  arrivals() {
    const all = [...arrivals]
    arrivals.clear()
    return all
  },

  /** How many deliveries came, and in how many requests. */
  counts() {
    const counted = { ids: arrivals.size, requests }
    arrivals.clear()
    requests = 0
    return counted
  },

  /** Posts each of `requests` once over one pool; answers how many a second. */
  async post({ port, ca, connections, requests }: Post) {
    const pool = new Pool(`https://localhost:${port}`, { connections, connect: { ca } })
    const send = async ({ body, headers }: Heard) => {
      const reply = await pool.request({ method: 'POST', path: '/webhook', body, headers })
      await reply.body.text()
    }
    // Connections are opened before the clock starts, as the dispatcher's are.
    await Promise.all(requests.slice(0, connections * 2).map(send))
    const started = performance.now()
    let at = 0
    const worker = async () => {
      while (at < requests.length) await send(requests[at++]!)
    }
    await Promise.all(Array.from({ length: connections }, worker))
    const rate = requests.length / ((performance.now() - started) / 1000)
    await pool.close()
    return rate
  },
})

interface Heard {
  body: string
  headers: Record<string, string>
}

interface Post {
  port: number
  ca: string
  connections: number
  requests: Heard[]
}

/** Without those that belong to the connection. */
function ownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const { host, connection, 'content-length': length, ...own } = headers
  return own as Record<string, string>
}
