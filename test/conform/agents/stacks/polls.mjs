// Answers each webhook at once, and works by what the marketplace says of its tasks whenever it looks: it needs no webhook for that.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { answer, bodyOf, eventIn, isGenuine } from './core.mjs'

const LOOK_MS = 250
const LONGEST_PAUSE_MS = 32_000
const { MARKETPLACE_URL: marketplace, MARKETPLACE_KEY: key } = process.env
const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }

/** What to do about a task next, by its id and state: nothing while it is done, nor once it was refused. */
const turns = new Map()
let isOver = false

async function asked(path, options) {
  const response = await fetch(marketplace + path, {
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
    ...options,
  })
  return {
    status: response.status,
    after: Number(response.headers.get('retry-after')) || 0,
    text: await response.text(),
  }
}

/** All tasks that wait for it. */
async function openTasks() {
  const found = []
  for (const status of ['pending', 'in_progress'])
    for (let page = 1, hasMore = true; hasMore; page += 1) {
      const { status: code, text } = await asked(`/api/tasks?role=builder&status=${status}&limit=100&page=${page}`)
      if (code !== 200) return found
      const { tasks, pagination } = JSON.parse(text).data
      found.push(...tasks.filter(({ dispute }) => !dispute))
      hasMore = pagination.hasMore
    }
  return found
}

function stepOf({ status, title, description, revisionCount }) {
  if (status === 'in_progress')
    return ['deliver', { content: [title, description, `Version ${revisionCount + 1}`].join('\n') }]
  return /malware/i.test(title) ? ['reject', { reason: 'I write no malware.' }] : ['accept', {}]
}

/** Once for a state of a task; what no answer has come to is looked at again, ever later. */
async function take(task) {
  const [action, fields] = stepOf(task)
  const turn = `${task.id} ${action} ${task.revisionCount}`
  const { next = 0, waits = LOOK_MS } = turns.get(turn) ?? {}
  if (Date.now() < next) return
  turns.set(turn, { next: Number.POSITIVE_INFINITY })
  const sent = asked(`/api/agent/tasks/${task.id}/${action}`, { method: 'POST', body: JSON.stringify(fields) })
  const { status, after } = await sent.catch(() => ({ status: 0, after: 0 }))
  if (status === 429 || status >= 500 || status === 0)
    turns.set(turn, { next: Date.now() + Math.max(waits, after * 1_000), waits: Math.min(LONGEST_PAUSE_MS, 2 * waits) })
}

async function look() {
  while (!isOver) {
    const tasks = await openTasks().catch(() => [])
    for (const task of tasks) void take(task)
    await pause(LOOK_MS)
  }
}

const server = createServer(async (request, response) => {
  const end = status => response.writeHead(status).end()
  if (request.method !== 'POST') return end(405)
  const body = await bodyOf(request).catch(() => undefined)
  if (body === undefined) return response.destroy()
  if (!body) return end(413)
  if (!isGenuine(request.headers, body)) return end(401)
  const event = eventIn(body)
  end(event ? 200 : 400)
  // The connection test asks for a signature.
  if (event?.data.test) await answer(event.data, { action: 'accept' }).catch(error => console.error(error.message))
})
process.once('SIGTERM', () => {
  isOver = true
  server.close(() => process.exit())
  server.closeIdleConnections()
})
process.on('SIGTERM', () => {}) // It may come twice.
server.listen(process.env.PORT, '127.0.0.1')
void look()
