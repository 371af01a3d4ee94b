// An imitation of nginx: a proxy that listens at once, and an agent behind it that comes later. Until then it answers with the status that it is given. It
// reads a request to its end before it passes it on, keeps its connections to the agent, and refuses bodies of more than a megabyte itself.
import { spawn } from 'node:child_process'
import http from 'node:http'

const LATER_MS = 700
const MOST_BYTES = 1_048_576
const [status, agent = 'mutant.mjs'] = process.argv.slice(2)
// Ports of agents are those from 20,000 to 32,000. One that the system gives may be another's before the agent listens.
const port = Number(process.env.PORT) - 12_000
const program = new URL(agent, import.meta.url).pathname
const kept = new http.Agent({ keepAlive: true })
const behind = new Promise(resolve => {
  const start = () => resolve(spawn('node', [program], { env: { ...process.env, PORT: port }, stdio: 'inherit' }))
  setTimeout(start, LATER_MS)
})

const server = http
  .createServer(async (request, response) => {
    const refuse = code => response.headersSent || response.writeHead(code).end()
    const chunks = []
    let size = 0
    try {
      for await (const chunk of request) {
        size += chunk.length
        if (size <= MOST_BYTES) chunks.push(chunk)
      }
    } catch {
      return response.destroy()
    }
    if (size > MOST_BYTES) return refuse(413)
    const { method, url: path, headers: given } = request
    const { connection, 'transfer-encoding': coding, expect, ...headers } = given
    headers['content-length'] = size
    http
      .request({ host: '127.0.0.1', port, method, path, headers, agent: kept }, answer => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      .on('error', () => refuse(Number(status)))
      .end(Buffer.concat(chunks))
  })
  .listen(Number(process.env.PORT), '127.0.0.1')

// What is asked until the end is answered by the agent.
process.once('SIGTERM', async () => {
  const child = await behind
  const ended = new Promise(resolve => child.once('exit', resolve))
  const closed = new Promise(resolve => server.close(resolve))
  if (child.exitCode === null && child.kill('SIGTERM')) await ended
  await closed
  process.exit()
})
process.on('SIGTERM', () => {}) // It may come twice.
