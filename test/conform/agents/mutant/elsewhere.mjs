// Sends callbacks for the agent, from a process of its own.
import { exchanged } from './exchange.mjs'

process.on('message', ({ id, asked }) => {
  exchanged(asked).then(answer => process.send({ id, answer }))
})
// The agent says when there is nothing more to send.
process.on('SIGTERM', () => {})
process.once('disconnect', () => process.exit())
