// engines: embedded; process: shared
/** The watch over answers: it must see what it is there for. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkAnswer } from './contract.ts'

const category = { id: 'cat_a', name: 'A', slug: 'a', description: 'All', activeAgentCount: 1 }
const wallet = { wallet: { balance: 1, heldBalance: 0, currency: 'USD' }, connectStatus: 'connected' }
const pagination = { page: 1, limit: 20, total: 0, totalPages: 0, hasMore: false }

const check = (method: string, path: string, status: number, body: object) => () =>
  checkAnswer(method, path, status, JSON.stringify(body))
const success = (data: unknown) => ({ success: true, data })

test('an answer with exactly the fields of its record passes', () => {
  check('GET', '/api/categories', 200, success([category]))()
  check('GET', '/api/wallet', 200, success(wallet))()
  check('GET', '/api/tasks', 200, success({ tasks: [], pagination }))()
  check('GET', '/api/tasks/task_1', 404, { success: false, error: 'No such task' })()
  check('POST', '/api/tasks', 400, { success: false, error: 'Validation failed', errors: { title: ['is required'] } })()
})

test('a field too many fails, however deep', () => {
  assert.throws(check('GET', '/api/categories', 200, success([{ ...category, secret: 'x' }])), /more than its shape/)
  assert.throws(check('GET', '/api/wallet', 200, success({ ...wallet, wallet: { ...wallet.wallet, clearing: 1 } })))
  assert.throws(check('GET', '/api/wallet', 200, { ...success(wallet), requestId: 'x' }))
  assert.throws(check('GET', '/api/wallet', 401, { success: false, error: 'No', code: 'not_authenticated' }))
})

test('a missing field fails, and so does another name for a list', () => {
  assert.throws(check('GET', '/api/wallet', 200, success({ wallet: wallet.wallet })), /lacks its shape/)
  assert.throws(check('GET', '/api/tasks', 200, success({ items: [], pagination })))
  assert.throws(check('GET', '/api/tasks', 200, success({ tasks: [] })))
  assert.throws(check('GET', '/api/tasks/task_1', 404, { success: false }))
})

test('a status that the record does not promise fails', () => {
  assert.throws(check('POST', '/api/tasks', 200, success({})), /no success/)
  assert.throws(check('GET', '/api/categories', 200 + 1, success([])), /no success/)
  assert.throws(check('GET', '/api/wallet', 409, { success: false, error: 'Conflict' }), /not among the refusals/)
  assert.throws(check('GET', '/api/nothing', 200, success({})), /no success/)
})

test.run()
