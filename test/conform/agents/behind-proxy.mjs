// A proxy that listens at once, and an agent behind it that comes later. Until then it answers with the status that it is given.
import { spawn } from 'node:child_process'
import http from 'node:http'
import { createServer } from 'node:net'

const LATER_MS = 700
const [status] = process.argv.slice(2)
const hidden = createServer().listen(0, '127.0.0.1')
await new Promise(resolve => hidden.once('listening', resolve))
const { port } = hidden.address()
await new Promise(resolve => hidden.close(resolve))
const agent = new URL('./mutant.mjs', import.meta.url).pathname
const start = () => spawn('node', [agent], { env: { ...process.env, PORT: port }, stdio: 'inherit' })
setTimeout(start, LATER_MS)

http
  .createServer((request, response) => {
    const { method, url: path, headers } = request
    const passed = http.request({ host: '127.0.0.1', port, method, path, headers }, answer => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.headersSent || response.writeHead(Number(status)).end())
    request.pipe(passed)
  })
  .listen(Number(process.env.PORT), '127.0.0.1')
