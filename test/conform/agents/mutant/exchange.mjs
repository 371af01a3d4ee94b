// One request of the agent, by this process or by another.
import { fork } from 'node:child_process'
import { Agent, request } from 'node:http'

const connections = new Agent({ keepAlive: true })

/**
 * Resolves to the status and the headers of the answer, or to `lost`, the name of an error. An agent takes 1.3 s of a processor for a
 * whole run, and 2.6 s with fetch: it is started seven times, and fetch is long to load.
 */
export function exchanged({ url, headers, body, timeoutMs }) {
  return new Promise(resolve => {
    const fail = error => resolve({ ok: false, lost: error.cause?.name ?? error.code })
    const options = { method: 'POST', headers, agent: connections, signal: AbortSignal.timeout(timeoutMs) }
    const answered = response => {
      const { statusCode: status, headers } = response
      response.once('error', fail)
      response.once('end', () => resolve({ ok: status >= 200 && status < 300, status, headers })).resume()
    }
    request(url, options, answered).once('error', fail).end(body)
  })
}

const asked = new Map()
let child = null
let last = 0

/** The same, by another process. */
export function exchangedElsewhere(options) {
  if (!child) {
    child = fork(new URL('elsewhere.mjs', import.meta.url))
    child.on('message', ({ id, answer }) => asked.get(id)?.(answer))
  }
  const id = ++last
  child.send({ id, asked: options })
  return new Promise(resolve => asked.set(id, resolve)).finally(() => asked.delete(id))
}
