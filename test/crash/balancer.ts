/** A simple balancer: each request goes to the next server that is ready; to the one after it if nobody listens there. */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Asked } from './silences.ts'

export interface Balancer {
  url: string
  /** Where requests go, one after the other. */
  targets: string[]
  /** Every request that a server took, once it has ended. */
  asked: Asked[]
  /** How many a server has in hand, those too whose answer nobody waits for any more. */
  inHand(): number
  close(): Promise<void>
}

/** How often it asks who is ready, how long it waits for that, and how long for an answer. */
const [ASK_MS, READY_MS, ANSWER_MS] = [200, 1_000, 5_000]

/** A connection that is cut behind it is cut in front of it as well. */
export async function startBalancer(): Promise<Balancer> {
  const agent = new http.Agent({ keepAlive: true, timeout: 2_000 })
  const targets: string[] = []
  const asked: Asked[] = []
  let [sent, inHand] = [0, 0]
  const out = new Set<string>()
  const look = async (target: string) => {
    const signal = AbortSignal.timeout(READY_MS)
    const isReady = await fetch(`${target}/readyz`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) out.delete(target)
    else out.add(target)
  }
  const looking = setInterval(() => void Promise.all(targets.map(look)), ASK_MS)
  const next = () => {
    const ready = targets.filter(target => !out.has(target))
    const among = ready.length > 0 ? ready : targets
    return among[sent++ % among.length]!
  }
  const pass = (request: http.IncomingMessage, body: Buffer, response: http.ServerResponse, left: number) => {
    const { method, url, headers } = request
    const target = next()
    const from = performance.now()
    const note = (isAnswered: boolean) => asked.push({ target, from, to: performance.now(), isAnswered })
    const cut = () => {
      if (response.destroyed) return
      note(false)
      response.destroy()
    }
    const onward = http.request(target + url, { method: method!, headers, agent })
    // It is not destroyed: only its server knows when nothing comes of it any more.
    const late = setTimeout(cut, ANSWER_MS)
    inHand++
    onward.on('close', () => {
      clearTimeout(late)
      inHand--
    })
    onward.on('response', answer => {
      if (response.destroyed) return answer.on('error', () => {}).resume()
      answer.on('error', cut).on('end', () => {
        if (!response.destroyed) note(answer.statusCode! < 500)
      })
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      return answer.pipe(response)
    })
    onward.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' && left > 1) pass(request, body, response, left - 1)
      else cut()
    })
    onward.end(body)
  }
  const server = http.createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null)
    if (body) pass(request, body, response, targets.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    asked,
    inHand: () => inHand,
    async close() {
      clearInterval(looking)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      agent.destroy()
    },
  }
}
