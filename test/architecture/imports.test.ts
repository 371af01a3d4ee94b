// engines: embedded; process: shared
/** Who may import whom: rooms, and the shelves within them. */
import { posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Files, importsOf, localImports, room, sources } from './sources.ts'

const mayImport: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  api: ['shared'],
  settings: ['api', 'shared'],
  store: ['api', 'shared'],
  world: ['shared'],
  market: ['api', 'store', 'world', 'settings', 'shared'],
  web: ['api', 'market', 'world', 'settings', 'shared'],
  client: ['api', 'shared'],
  console: ['api', 'client'],
  sim: ['api', 'client', 'world', 'open', 'shared'],
  conform: ['api', 'client', 'market', 'sim', 'world', 'settings', 'shared', 'open'],
  open: ['api', 'store', 'world', 'market', 'web', 'client', 'sim', 'settings', 'shared'],
  index: ['api', 'market', 'client', 'settings', 'open'],
  cli: ['api', 'store', 'world', 'market', 'web', 'client', 'conform', 'sim', 'settings', 'shared', 'open'],
}

/** A shelf is a folder in a room. What lies on none is for all of the room, and what `assembles` is for no shelf. */
const shelves: Readonly<
  Record<string, { assembles: readonly string[]; mayImport: Record<string, readonly string[]> }>
> = {
  market: {
    assembles: ['verbs.ts'],
    mayImport: {
      money: [],
      requests: [],
      accounts: ['money'],
      wallet: ['accounts', 'money'],
      webhooks: ['accounts'],
      agents: ['accounts', 'webhooks'],
      checks: ['accounts', 'agents', 'webhooks'],
      budgets: ['accounts', 'agents'],
      tasks: ['accounts', 'agents', 'budgets', 'money', 'webhooks'],
      upkeep: ['accounts', 'agents', 'money'],
      simulator: ['accounts', 'money', 'tasks', 'upkeep', 'webhooks'],
    },
  },
  store: {
    assembles: ['open.ts', 'copy.ts'],
    mayImport: {
      migrations: [],
      embedded: ['migrations'],
      postgres: [],
      tables: [],
      files: ['embedded'],
    },
  },
  conform: {
    assembles: ['run.ts', 'crowd-of-buyers.ts'],
    mayImport: {
      history: [],
      judging: ['history'],
      agent: ['history', 'judging'],
      marketplaces: ['agent', 'history', 'judging'],
      scenarios: ['agent', 'history', 'judging', 'marketplaces'],
      checks: ['history', 'judging', 'scenarios'],
      'listed-agent': ['agent', 'checks', 'history', 'judging'],
      reports: ['history', 'judging'],
      requirements: ['judging'],
    },
  },
  sim: {
    assembles: ['seed.ts', 'fault-board.ts'],
    mayImport: { agents: [], buyers: ['agents'], webhooks: [], callbacks: [], demo: ['agents'] },
  },
  api: {
    assembles: [],
    mayImport: { '': ['diagnosis'], diagnosis: [], endpoints: ['diagnosis'], openapi: ['endpoints'] },
  },
  world: { assembles: ['real.ts', 'bucket.ts'], mayImport: { egress: [] } },
  console: {
    assembles: ['main.tsx', 'pages.ts', 'shell.tsx', 'sign-in.tsx'],
    mayImport: { '': ['parts'], parts: [], task: ['parts'], pages: ['parts', 'task'] },
  },
  web: { assembles: [], mayImport: { '': ['bodies', 'sockets', 'public'], bodies: [], sockets: [], public: [] } },
  cli: {
    assembles: ['command-list.ts', 'command-runner.ts', 'command-table.ts', 'main.ts', 'parser.ts'],
    mayImport: {
      output: [],
      'command-line': ['output'],
      connection: ['command-line', 'output'],
      endpoint: ['command-line', 'connection', 'output'],
      log: ['command-line', 'connection', 'endpoint', 'output'],
      emit: ['command-line', 'connection', 'output'],
      conformance: ['connection', 'endpoint', 'output', 'simulation'],
      mcp: ['command-line', 'output'],
      simulation: ['command-line', 'connection', 'output'],
      doctor: ['connection', 'output'],
      keys: ['connection', 'log', 'output', 'simulation'],
      dev: ['conformance', 'connection', 'keys', 'log', 'output'],
      commands: [
        'command-line',
        'conformance',
        'connection',
        'dev',
        'doctor',
        'emit',
        'endpoint',
        'keys',
        'log',
        'mcp',
        'output',
        'simulation',
      ],
      table: ['command-line', 'commands', 'conformance', 'connection', 'endpoint', 'output'],
    },
  },
}

const importExceptions: Readonly<Record<string, string>> = {
  'src/web/response.ts > store/db.ts': 'a unique index that decides a race is answered with 409',
  'src/web/credentials.ts > store/db.ts': 'names the type of the unit in which a credential is looked up',
  'src/web/idempotency.ts > store/db.ts': 'names the types of the units in which a request and its repeat are served',
  'src/web/serve.ts > store/db.ts': 'names the type of the unit in which a request is served',
  'src/web/serve.ts > store/around.ts': 'the units of a verb that opens them itself are those of its request',
  'src/web/metrics.ts > store/db.ts': 'names the type of what is measured of a unit',
  'src/sim/verb-calls.ts > market/market.ts': 'names the types of the marketplace and of who acts in it',
  'src/sim/verb-calls.ts > market/verb.ts': 'names the type of the verbs',
  'src/sim/verb-calls.ts > market/verbs.ts': "the simulator's own people act without a session",
  'src/sim/verb-calls.ts > market/permission.ts':
    'they may do what their accounts may and no more, and a full database refuses them too',
  'src/sim/verb-calls.ts > market/requests/rate-windows.ts': 'the limits of rates hold for who floods',
  'src/sim/verb-calls.ts > store/db.ts': 'names the type of the unit in which they act',
  'src/sim/verb-calls.ts > store/tables/accounts/users.ts': 'looks up who acts, each time anew',
  'src/sim/accounts.ts > market/market.ts': 'names the type of the marketplace whose accounts they are',
  'src/sim/accounts.ts > market/accounts/accounts.ts': 'accounts are made with a cheap hash, and an administrator too',
  'src/sim/accounts.ts > market/accounts/keys.ts': 'a lost key of a seeded account is replaced without a session',
  'src/sim/accounts.ts > store/tables/accounts/keys.ts': 'takes back a seeded key before it makes another',
  'src/sim/accounts.ts > store/tables/accounts/users.ts':
    'looks whether the accounts are there, and gives them a new password',
  'src/sim/agents/agents.ts > market/market.ts': 'names the type of the marketplace whose agents they are',
  'src/sim/agents/agents.ts > market/agents/agents.ts': 'an agent keeps the secret that its program knows',
  'src/sim/agents/agents.ts > market/checks/connection-test.ts':
    'they are tested with less patience than the interface has',
  'src/sim/agents/agents.ts > market/sealing.ts': 'the simulator tells the secrets of its agents, whoever made them',
  'src/sim/agents/agents.ts > store/tables/agents/agents.ts': 'reads the secret, and the row that a test wants',
  'src/sim/buyers/engagements.ts > market/upkeep/clock-followers.ts':
    'names the type of a step that the clock stops at',
  'src/sim/buyers/persona-accounts.ts > market/market.ts': 'names the type of the marketplace whose accounts they are',
  'src/sim/buyers/lives.ts > market/market.ts': 'names the type of the marketplace in which they live',
  'src/sim/buyers/crowd.ts > market/log.ts': 'they hear what happens to their tasks',
  'src/sim/buyers/crowd.ts > market/upkeep/clock-moves.ts': 'days go by in moments',
  'src/sim/buyers/simulated-buyers.ts > market/market.ts': 'names the type of the marketplace in which they live',
  'src/sim/buyers/simulated-buyers.ts > market/log.ts': 'they hear what happens to their tasks',
  'src/sim/buyers/simulated-buyers.ts > market/activity.ts':
    'a moved clock waits for them, and they for what is in flight',
  'src/sim/buyers/simulated-buyers.ts > market/upkeep/clock-followers.ts': 'the clock stops where one of them returns',
  'src/sim/agents/forwarded-agents.ts > market/market.ts': 'names the type of the marketplace whose agents they are',
  'src/sim/agents/forwarded-agents.ts > store/tables/webhooks/deliveries.ts':
    'what waits for an agent goes at once when it is back',
  'src/sim/seed.ts > market/market.ts': 'names the type of the marketplace that is seeded',
  'src/sim/seed.ts > store/tables/accounts/users.ts': 'looks whether the buyer is there, who gets money once',
  'src/sim/webhooks/signature-probe.ts > market/market.ts': 'names the type of the marketplace that asks the agent',
  'src/sim/webhooks/signature-probe.ts > market/webhooks/diagnosis.ts': 'tries the secrets that a diagnosis compares',
  'src/sim/webhooks/signature-probe.ts > store/tables/agents/agents.ts': "reads the agent's address",
  'src/sim/agents/test-responder.ts > market/market.ts': 'names the type of the marketplace whose test it answers',
  'src/sim/agents/test-responder.ts > market/verbs.ts': 'calls back without a request',
  'src/console/pages/happenings.tsx > market/log.ts': 'names the types of the entries that it puts into words',
}

function importFaults(files: Files, exceptions: Readonly<Record<string, string>>): string[] {
  const unused = new Set(Object.keys(exceptions))
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    const allowed = mayImport[room(path)]
    if (!allowed) faults.push(`${path} is in a room that the table does not name`)
    for (const name of importsOf(text)) {
      if (!name.startsWith('.')) continue
      const target = posix.join(posix.dirname(path), name)
      if (!target.startsWith('src/') || target === path || room(target) === room(path)) continue
      if (allowed?.includes(room(target))) continue
      const edge = `${path} > ${target.slice('src/'.length)}`
      if (!unused.delete(edge) && !(edge in exceptions)) faults.push(edge)
    }
  }
  return [...faults, ...[...unused].map(edge => `${edge} is excepted, but not there`)]
}

const shelfOf = (path: string): string | null => (path.split('/').length > 3 ? path.split('/')[2]! : null)

function shelfFaults(files: Files): string[] {
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    const rules = shelves[room(path)]
    const own = shelfOf(path)
    if (own !== null && !(own in (rules?.mayImport ?? {})))
      faults.push(`${path} is on a shelf that the table does not name`)
    if (!rules || (own === null && rules.assembles.includes(posix.basename(path)))) continue
    const isAllowed = (target: string) => {
      const shelf = shelfOf(target)
      if (shelf === null) return !rules.assembles.includes(posix.basename(target))
      return shelf === own || rules.mayImport[own ?? '']?.includes(shelf)
    }
    const targets = localImports(path, text).filter(target => room(target) === room(path) && !isAllowed(target))
    faults.push(...targets.map(target => `${path} > ${target.slice('src/'.length)}`))
  }
  return faults
}

test('a room imports what the table allows, and nothing else', () => {
  assert.ok(Object.keys(sources).length > 50)
  assert.equal(importFaults(sources, importExceptions), [])
  for (const reason of Object.values(importExceptions)) assert.ok(reason.length > 10)
})

test('a forbidden import is found in each of its forms', () => {
  const from = (path: string, text: string) => importFaults({ [path]: text }, {})
  assert.equal(from('src/store/a.ts', "import { x } from '../market/b.ts'"), ['src/store/a.ts > market/b.ts'])
  assert.equal(from('src/store/a.ts', "import type {\n  X,\n} from '../web/b.ts'"), ['src/store/a.ts > web/b.ts'])
  assert.equal(from('src/open/open.ts', "await import('../cli/main.ts')"), ['src/open/open.ts > cli/main.ts'])
  assert.equal(from('src/api/a.ts', "export * from '../settings/b.ts'"), ['src/api/a.ts > settings/b.ts'])
  assert.equal(from('src/sim/a.ts', "import '../store/b.ts'"), ['src/sim/a.ts > store/b.ts'])
  assert.is(from('src/attic/a.ts', '').length, 1)
  assert.equal(from('src/market/a.ts', "import { x } from '../store/b.ts'\n// from '../web/c.ts'"), [])
  assert.is(importFaults({}, { 'src/a.ts > b.ts': 'gone' }).length, 1)
})

test('a shelf imports what the table allows: the layers of the domain, of the store and of the program', () => {
  assert.equal(shelfFaults(sources), [])
  const from = (path: string, text: string) => shelfFaults({ [path]: text })
  assert.equal(from('src/market/money/a.ts', "import { x } from '../tasks/b.ts'"), [
    'src/market/money/a.ts > market/tasks/b.ts',
  ])
  assert.equal(from('src/market/tasks/a.ts', "import { x } from '../money/b.ts'"), [])
  assert.equal(from('src/market/tasks/a.ts', "import { x } from '../verbs.ts'"), [
    'src/market/tasks/a.ts > market/verbs.ts',
  ])
  assert.equal(from('src/market/time.ts', "import { x } from './money/b.ts'"), [
    'src/market/time.ts > market/money/b.ts',
  ])
  assert.is(from('src/market/attic/a.ts', '').length, 1)
})

test.run()
