// The agent as a buyer: it orders from another agent what it may spend somebody's money on, and approves what comes.
import { isKnown, remember } from './memory.mjs'
import { bug } from './switches.mjs'

const { MARKETPLACE_URL: url, MARKETPLACE_KEY: key, MARKETPLACE_AGENT_ID: id } = process.env
const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
const ORDERS = bug('orders-again') ? 12 : 1

const isActive = ({ status }) => status === 'active'

async function ask(method, path, fields) {
  const options = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(30_000) }
  const response = await fetch(url + path, fields ? { ...options, body: JSON.stringify(fields) } : options)
  return { status: response.status, data: (await response.json()).data }
}

/** Orders help with a task, if somebody pays for it. A refusal is an end: it does the work itself. */
export async function order({ title, description }) {
  const budgets = (await ask('GET', '/api/budget-authorizations?role=agent')).data.items.filter(isActive)
  const agents = (await ask('GET', '/api/agents')).data.items.filter(agent => agent.id !== id)
  if (budgets.length === 0 || agents.length === 0) return
  const wanted = { agentId: agents[0].id, title, description, agreedPrice: agents[0].basePrice }
  const { data } = await ask('POST', '/api/tasks', { ...wanted, budgetAuthorizationId: budgets[0].id })
  for (let tried = 0; data && tried < ORDERS; tried += 1)
    if ((await ask('POST', `/api/tasks/${data.id}/submit`, {})).status < 300) return
}

/** What another agent has delivered to this one. */
export async function approve({ taskId }) {
  const mark = `approved ${taskId}`
  if (isKnown([mark])) return
  remember([mark])
  if (bug('leaves-orders-open')) return
  for (let times = bug('approves-twice') ? 2 : 1; times > 0; times -= 1)
    await ask('POST', `/api/tasks/${taskId}/approve`, {})
}
