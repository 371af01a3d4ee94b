/** Refusals and limits: errors, limits, rate limits. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the source
import type { Row } from './row.ts'

const file = 'api/limits.ts'
const max = (what: string, held: string, from: string, to: string): Row => [what, held, file, from, to]
const agent = (field: string) => `api/limits: an agent's ${field}, when it is`
const task = (field: string) => `api/limits: a task's ${field}, when it is`
const validation = [
  "api/limits: an agent's name, when it is created",
  'api/limits: all that is missing or wrong is named',
]
const rate = (what: string, category: string, limit: number): Row => [
  what,
  'web/rate-limit: exactly N requests pass in each category',
  file,
  `${category}: { limit: ${limit},`,
  `${category}: { limit: ${limit + 1},`,
]

export const errors: readonly Row[] = [
  [
    '200: success',
    'web/server: a success is the envelope',
    'web/serve.ts',
    'record.status ?? 200',
    'record.status ?? 201',
  ],
  [
    '201: created',
    'api/authorization: POST /api/tasks',
    'api/endpoints/tasks.ts',
    '    reply: task,\n    status: 201,',
    '    reply: task,',
  ],
  [
    '400: validation',
    validation,
    'api/failures.ts',
    "new Refusal('validation_failed', 400,",
    "new Refusal('validation_failed', 409,",
  ],
  [
    '400: invalid state transition',
    'market/agents/agent-states: each trigger moves an agent',
    'api/failures.ts',
    'agent_out_of_turn: [400',
    'agent_out_of_turn: [409',
  ],
  [
    '401: not authenticated',
    'api/authorization: GET /api/wallet',
    'api/failures.ts',
    'not_authenticated: [401',
    'not_authenticated: [403',
  ],
  [
    '403: wrong role',
    'api/authorization: GET /api/admin/agents',
    'api/failures.ts',
    'admin_only: [403',
    'admin_only: [404',
  ],
  [
    '403: not the owner',
    'api/authorization: GET /api/my/agents/:id',
    'api/failures.ts',
    'not_yours: [403',
    'not_yours: [404',
  ],
  ['404: not found', 'api/authorization: GET /api/agents/:id', 'api/failures.ts', 'not_found: [404', 'not_found: [400'],
  [
    '409: duplicate',
    'market/budgets/budgets: create answers 201 and the whole record; a second one',
    'api/failures.ts',
    'duplicate: [409',
    'duplicate: [400',
  ],
  [
    '409: race',
    'web/server: what a verb throws becomes its refusal',
    'api/failures.ts',
    'lost_race: [409',
    'lost_race: [400',
  ],
  [
    '429: rate limited',
    'web/rate-limit: exactly N requests pass',
    'api/failures.ts',
    'rate_limited: [429',
    'rate_limited: [400',
  ],
  [
    '500: internal',
    'web/server: what a verb throws becomes its refusal, and our own faults tell nothing',
    'api/failures.ts',
    'internal: [500',
    'internal: [400',
  ],
  [
    'Rule 1: Validation failed, and the fields with their messages',
    validation,
    'api/failures.ts',
    "'Validation failed'",
    "'Invalid'",
  ],
  [
    'Rule 2: validation of every included field, on partial updates too',
    task('title'),
    'api/endpoints/tasks.ts',
    'body: taskInput.partial()',
    'body: taskInput.partial().extend({ title: z.string().optional() })',
  ],
  [
    'Rule 3: a disallowed state transition is 400',
    'market/agents/agent-states: each trigger moves an agent',
    'market/agents/states.ts',
    "if (!edge) throw refuse('agent_out_of_turn', done, row.status)\n  return edge.to",
    'return edge?.to ?? row.status',
  ],
  [
    'Rule 4: a second budget authorization for an agent is 409',
    'market/budgets/budgets: only one of 20 parallel creates',
    'store/tables/money/budgets.ts',
    'ON CONFLICT (owner_id, agent_id) DO NOTHING',
    'ON CONFLICT (owner_id, agent_id) DO UPDATE SET status = excluded.status',
  ],
  [
    'Rule 5: an agent with active tasks is not deleted',
    'market/agents/agent-states: delete: refused with 409 while there is open work',
    'market/agents/states.ts',
    "=== 0)\n    throw refuse('open_work'",
    "< 0)\n    throw refuse('open_work'",
  ],
  [
    'Rule 5: a budget authorization with active tasks is not deleted',
    'market/budgets/spending: delete is refused with active tasks',
    'market/budgets/budgets.ts',
    'if (active > 0)',
    'if (active > 1)',
  ],
]

export const sizes: readonly Row[] = [
  max('Any price: 200 cents at least', agent('basePrice'), 'price: { min: 200', 'price: { min: 201'),
  max('Task title: 200 characters at most', task('title'), 'title: [5, 200]', 'title: [5, 201]'),
  max('Task description: 10,000 characters at most', task('description'), '[20, 10_000]', '[20, 10_001]'),
  max(
    'Task requirements: 5,000 characters at most',
    task('requirements'),
    'requirements: [0, 5_000]',
    'requirements: [0, 5_001]',
  ),
  max(
    'Agent name: 100 characters at most',
    agent('name'),
    'agent: {\n    name: [2, 100]',
    'agent: {\n    name: [2, 101]',
  ),
  max('Agent tagline: 200 characters at most', agent('tagline'), 'tagline: [10, 200]', 'tagline: [10, 201]'),
  max('Agent description: 5,000 characters at most', agent('description'), '[50, 5_000]', '[50, 5_001]'),
  max('Agent categories: 4 at most', agent('categoryIds'), 'categories: [1, 4]', 'categories: [1, 5]'),
  max('Agent tags: 10 at most', agent('tags'), 'tags: 10', 'tags: 11'),
  max(
    'turnaroundHours: 720 at most',
    agent('turnaroundHours'),
    'turnaroundHours: [1, 720]',
    'turnaroundHours: [1, 721]',
  ),
  max('maxRevisions: 10 at most', agent('maxRevisions'), 'maxRevisions: [0, 10]', 'maxRevisions: [0, 11]'),
  max('maxRevisions: 0 at least', agent('maxRevisions'), 'maxRevisions: [0, 10]', 'maxRevisions: [1, 10]'),
  max('Samples: 10 an agent', 'market/agents/samples: samples: an eleventh is refused', 'samples: 10', 'samples: 11'),
  max(
    'API keys: 10 an account',
    'api/limits: the name of a key; an eleventh key is refused',
    'perAccount: 10',
    'perAccount: 11',
  ),
  max('API key name: 100 characters at most', 'api/limits: the name of a key', 'name: [1, 100] }', 'name: [1, 101] }'),
  max(
    'Deliverable content: 50,000 characters at most',
    "api/task-limits: a deliverable's content",
    'deliverable: { content: [1, 50_000]',
    'deliverable: { content: [1, 50_001]',
  ),
  max(
    'Deliverable notes: 2,000 characters at most',
    "api/task-limits: a deliverable's notes",
    'notes: [0, 2_000]',
    'notes: [0, 2_001]',
  ),
  max('Deliverable files: 5 at most', 'web/uploads: a sixth file is refused with 400', 'files: 5', 'files: 6'),
  max(
    'Deliverable files: 10 MB each',
    'web/uploads: exactly 10 MB is accepted',
    '10 * 1024 * 1024',
    '10 * 1024 * 1024 - 1',
  ),
  max(
    'Page size: 20 by default',
    'api/account-limits: pages of /api/agents',
    'default: 20, max: 100',
    'default: 21, max: 100',
  ),
  max(
    'Page size: 100 at most',
    'api/account-limits: pages of /api/agents',
    'default: 20, max: 100',
    'default: 20, max: 99',
  ),
  max(
    'Dispute of a completed task: within 48 hours',
    'market/tasks/task-conditions: dispute: until 48 hours',
    'disputeWindowMs: 48 * hour',
    'disputeWindowMs: 47 * hour',
  ),
  max(
    'Webhook: 30 seconds to answer',
    'market/checks/connection-test: a webhook is a POST of JSON',
    'webhookTimeoutMs: 30 * second',
    'webhookTimeoutMs: 31 * second',
  ),
  max(
    'Test callback: within 15 seconds',
    'market/checks/connection-test-words: without a callback the test waits 15 seconds',
    'testCallbackMs: 15 * second',
    'testCallbackMs: 16 * second',
  ),
  [
    'Signature timestamp: 5 minutes',
    'api/signature: signature vector: exactly five minutes old',
    'api/signature.ts',
    'TOLERANCE_MS = durations.signatureToleranceMs',
    'TOLERANCE_MS = durations.signatureToleranceMs - 1',
  ],
  max(
    'Heartbeat: every 4 hours',
    'market/checks/heartbeat: the heartbeat runs at every fourth full hour',
    'heartbeatHours = 4',
    'heartbeatHours = 3',
  ),
  max('Heartbeat: 20 agents a run', 'market/checks/heartbeat: a run tests 20 agents at most', 'batch: 20', 'batch: 19'),
  max(
    'Heartbeat: 5 concurrent',
    'market/checks/heartbeat: a run tests 20 agents at most, 5 at a time',
    'atOnce: 5',
    'atOnce: 4',
  ),
  max(
    'Heartbeat: 24 hours of freshness',
    'market/agents/agent-actors: a listed agent is public for exactly 24 hours',
    'freshMs: 24 * hour',
    'freshMs: 24 * hour - 1',
  ),
]

export const rates: readonly Row[] = [
  [
    'Per IP address',
    'web/rate-limit: one category used up leaves the others and other addresses alone',
    'web/rate-counters.ts',
    'const running = windows.get(address)',
    "const running = windows.get([...windows.keys()][0] ?? '')",
  ],
  rate('General API: 100 a minute', 'general', 100),
  rate('Authentication: 5 a minute', 'authentication', 5),
  rate('Registration: 3 an hour', 'registration', 3),
  rate('Password reset: 3 an hour', 'password_reset', 3),
  rate('Webhooks: 50 a minute', 'webhooks', 50),
  rate('File upload: 20 a minute', 'file_upload', 20),
  rate('Search: 30 a minute', 'search', 30),
  rate('Task creation: 10 an hour', 'task_creation', 10),
  rate('Task submission: 5 an hour', 'task_submission', 5),
]
