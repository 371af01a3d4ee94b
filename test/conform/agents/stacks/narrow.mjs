// One connection at a time: the others wait until it is closed, as it is soon when nothing comes.
import { createServer } from 'node:http'
import { createServer as openDoor } from 'node:net'
import { endInOrder, resume, serve } from './core.mjs'

const IDLE_MS = 50
const agent = createServer({ keepAliveTimeout: IDLE_MS }, serve).setTimeout(5_000)
const waiting = []
let inside = null

function next() {
  inside ??= waiting.shift() ?? null
  if (!inside || inside.isIn) return
  inside.isIn = true
  inside.once('close', () => {
    inside = null
    next()
  })
  agent.emit('connection', inside)
  inside.resume()
}

const door = openDoor({ pauseOnConnect: true }, socket => {
  socket.on('error', () => {})
  waiting.push(socket)
  next()
})
resume()
endInOrder(Object.assign(door, { closeIdleConnections: () => {} }))
door.listen(process.env.PORT, '127.0.0.1')
