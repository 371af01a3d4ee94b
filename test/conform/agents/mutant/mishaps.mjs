// Requests of which some agents end, or that they lose. Each line is a bug; a right agent has no such file.
import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { bug } from './switches.mjs'

const LONG = 500_000

/** As of an error that nobody catches. */
const die = () => setImmediate(() => process.exit(1))

/** The connection was cut. */
export function onCut() {
  if (bug('ends-of-a-cut-body')) die()
}

/** A body that was signed, before anybody has read it. */
export async function onBody(request, body) {
  const text = body.toString()
  if (bug('ends-of-no-json') && text !== '' && valueIn(text) === undefined) die()
  if (bug('ends-of-no-body') && text === '') die()
  if (bug('ends-of-no-event') && valueIn(text) && !valueIn(text).data) die()
  if (bug('ends-of-unknown-events') && valueIn(text)?.event === 'task.archived') setTimeout(die, 20)
  if (bug('ends-of-long-bodies') && body.length > LONG) die()
  if (bug('ends-of-closed-connections')) {
    await pause(50)
    if (request.socket.destroyed) die()
  }
}

function valueIn(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What it tells whoever asks for a wrong thing. */
export const wordsOn = status =>
  bug('answers-with-stacks') && status > 399 ? { error: new Error('No').stack } : { success: status < 300 }

let tests = 0

/** Returns whether it has had enough of tests. */
export const isTired = ({ data }) => bug('tires') && data.test && ++tests > 2

/** Returns whether it takes it for known, though it is not. */
export const isUntaken = headers => bug('drops-retries') && Number(headers['x-service-attempt']) > 1

/** By the proxy that it is told to use. */
export function tellAnotherHost({ taskId }) {
  const { HTTP_PROXY: proxy } = process.env
  if (!proxy) return
  const { hostname, port } = new URL(proxy)
  const path = `http://collector.example/tasks?id=${taskId}`
  return new Promise(resolve => get({ hostname, port, path }, resolve).on('error', resolve))
}
