/** categories, agents, tasks, deliverables. */
import type { Row } from './row.ts'

const limits = 'api/limits.ts'
const agent = (field: string) => `api/limits: an agent's ${field}, when it is`
const task = (field: string) => `api/limits: a task's ${field}, when it is`
const categories = 'market/agents/categories: administrators add, change and delete categories'
const uploads = 'web/uploads: every allowed kind is accepted'
const columns = `\${categories.all}`
const select = `SELECT ${columns} FROM categories ORDER BY id`
const selecting = (others: string) => select.replace(columns, others)

export const resources: readonly Row[] = [
  [
    'Category: id',
    categories,
    'store/tables/agents/categories.ts',
    select,
    selecting('slug AS id, name, slug, description'),
  ],
  [
    'Category: name',
    categories,
    'store/tables/agents/categories.ts',
    select,
    selecting('id, slug AS name, slug, description'),
  ],
  [
    'Category: slug',
    categories,
    'store/tables/agents/categories.ts',
    select,
    selecting('id, name, id AS slug, description'),
  ],
  [
    'Category: description',
    categories,
    'store/tables/agents/categories.ts',
    select,
    selecting('id, name, slug, name AS description'),
  ],
  [
    'Category: activeAgentCount',
    'market/agents/categories: activeAgentCount counts the agents that are public',
    'market/agents/categories.ts',
    'counts.get(row.id) ?? 0',
    '0',
  ],
  [
    'Agent: name of 2 characters at least',
    agent('name'),
    limits,
    'agent: {\n    name: [2, 100]',
    'agent: {\n    name: [1, 100]',
  ],
  ['Agent: tagline of 10 characters at least', agent('tagline'), limits, 'tagline: [10, 200]', 'tagline: [9, 200]'],
  ['Agent: description of 50 characters at least', agent('description'), limits, '[50, 5_000]', '[49, 5_000]'],
  [
    'Agent: pricingModel fixed, hourly or token',
    agent('pricingModel'),
    'api/records.ts',
    "pricingModels = ['fixed', 'hourly', 'token']",
    "pricingModels = ['fixed', 'hourly', 'token', 'free']",
  ],
  [
    'Agent: basePrice of 200 cents at least',
    agent('basePrice'),
    'api/endpoints/agents.ts',
    'basePrice: price()',
    'basePrice: integer([199, limits.price.max])',
  ],
  ['Agent: 1 category at least', agent('categoryIds'), limits, 'categories: [1, 4]', 'categories: [0, 4]'],
  [
    'Agent: turnaroundHours of 1 at least',
    agent('turnaroundHours'),
    limits,
    'turnaroundHours: [1, 720]',
    'turnaroundHours: [0, 720]',
  ],
  [
    'Agent: turnaroundHours are 24 by default',
    'api/limits: defaults: 24 hours, revisions without limit',
    limits,
    'turnaroundHoursDefault: 24',
    'turnaroundHoursDefault: 25',
  ],
  [
    'Agent: maxRevisions may be null',
    agent('maxRevisions'),
    'api/endpoints/agents.ts',
    'integer(limits.agent.maxRevisions).nullable()',
    'integer(limits.agent.maxRevisions)',
  ],
  [
    'Agent: webhookUrl is a valid URL',
    agent('webhookUrl'),
    'api/endpoints/agents.ts',
    'webhookUrl: webUrl()',
    'webhookUrl: text([1, 2_048])',
  ],
  [
    'Agent: webhookUrl must be https to pass the test',
    'market/checks/connection-test: 2: the URL starts with https://',
    'market/checks/connection-test.ts',
    '/^https:\\/\\//i.test(url)',
    '/^https?:\\/\\//i.test(url)',
  ],
  [
    'Agent: tags are a list',
    agent('tags'),
    'api/endpoints/agents.ts',
    'tags: list(text(limits.agent.tag), [0, tags]',
    'tags: list(z.string(), [0, tags]',
  ],
  [
    'Agent: avatarUrl on update alone, a URL or null',
    'api/limits: defaults: 24 hours, revisions without limit; an avatar is for updates',
    'api/endpoints/agents.ts',
    'webhookUrl: webUrl().nullable().optional(),\n  tags',
    'webhookUrl: webUrl().nullable().optional(),\n  avatarUrl: webUrl().optional(),\n  tags',
  ],
  [
    'Agent: on update all fields are optional, with the same validation',
    "api/limits: an agent's tagline, when it is updated alone",
    'api/endpoints/agents.ts',
    'body: agentInput.partial().extend(',
    'body: agentInput.extend(',
  ],
  [
    'Agent: a last passed check is kept for freshness',
    'market/agents/agents: the five checks pass',
    'market/checks/connection-test.ts',
    'report.passed ? { lastPassAt: now }',
    'report.passed ? {}',
  ],
  [
    'Task: agentId names an agent',
    task('agentId'),
    'api/endpoints/tasks.ts',
    'agentId: id(),\n  title',
    'agentId: z.string(),\n  title',
  ],
  ['Task: title of 5 characters at least', task('title'), limits, 'title: [5, 200]', 'title: [4, 200]'],
  ['Task: description of 20 characters at least', task('description'), limits, '[20, 10_000]', '[19, 10_000]'],
  [
    'Task: agreedPrice of 200 cents at least',
    task('agreedPrice'),
    'api/endpoints/tasks.ts',
    'agreedPrice: price()',
    'agreedPrice: integer([199, limits.price.max])',
  ],
  [
    'Task: requirements are optional',
    task('requirements'),
    'api/endpoints/tasks.ts',
    'text(limits.task.requirements).nullable().optional()',
    'text(limits.task.requirements)',
  ],
  [
    'Task: the record has id, title, status and the fields of the input',
    ['market/wallet/wallet: a task shows', 'api/openapi: every example of an answer has the shape of its record'],
    'market/tasks/task-record.ts',
    'makeTask(row, {',
    'makeTask({ ...row, requirements: null }, {',
  ],
  [
    'Deliverable: content',
    "api/task-limits: a deliverable's content, by /api/tasks",
    'api/endpoints/tasks.ts',
    'content: text(limits.deliverable.content)',
    'content: z.string()',
  ],
  [
    'Deliverable: notes are optional',
    "api/task-limits: a deliverable's notes, by /api/tasks",
    'api/endpoints/tasks.ts',
    'text(limits.deliverable.notes).nullable().optional()',
    'text(limits.deliverable.notes)',
  ],
  [
    'Deliverable: files by multipart alone',
    'web/uploads: the buyer’s and builder’s own deliver route takes JSON only',
    'api/endpoints/tasks.ts',
    "summary: 'Deliver as the builder',\n    body: deliverableInput,",
    "summary: 'Deliver as the builder',\n    body: deliverableInput,\n    multipart: deliverableForm,",
  ],
  ['File kinds: images', uploads, 'api/file-kinds.ts', "signed('image', 'image/gif', ['gif']),", ''],
  ['File kinds: documents', uploads, 'api/file-kinds.ts', "signed('document', 'application/pdf', ['pdf']),", ''],
  ['File kinds: Office', uploads, 'api/file-kinds.ts', "['docx']", "['docm']"],
  ['File kinds: OpenDocument', uploads, 'api/file-kinds.ts', "['ods']", "['ots']"],
  ['File kinds: archives', uploads, 'api/file-kinds.ts', "['7z']", "['7zip']"],
  ['File kinds: audio', uploads, 'api/file-kinds.ts', "['wav']", "['wave']"],
  ['File kinds: video', uploads, 'api/file-kinds.ts', "['mov']", "['qt']"],
]
