/**
 * Loaded into each Node before its program (NODE_OPTIONS=--import …): a connection to anything but this machine is refused, and noted in the
 * file that NOTED names, so that one whose failure nobody minds is seen too.
 */
import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'

const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d+){3}|::1|::ffff:127(?:\.\d+){3})$/
const { connect } = Socket.prototype

/** Node itself calls it with one array: the options, and what to call. */
Socket.prototype.connect = function (...args) {
  const [given, second] = Array.isArray(args[0]) ? args[0] : args
  const { path, host } =
    typeof given === 'object' ? given : /^\d+$/.test(given) ? { host: [second].find(isText) } : { path: given }
  if (isText(path) || LOOPBACK.test(host ?? 'localhost')) return connect.apply(this, args)
  appendFileSync(process.env.NOTED, `${process.argv.slice(1, 3).join(' ')} called ${host}\n`)
  process.nextTick(() => this.destroy(new Error(`connect ENETUNREACH ${host}`)))
  return this
}

const isText = value => typeof value === 'string'
