// engines: embedded, postgres; process: own
/** The rules of the source: who may import whom, who may call the outside, and what the package may bring along. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

type Files = Readonly<Record<string, string>>

/** A room is a folder of src, or a file beside them. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  api: [],
  store: ['api'],
  world: [],
  market: ['api', 'store', 'world', 'config'],
  web: ['api', 'market', 'world', 'config'],
  client: ['api'],
  sim: ['api', 'client', 'world', 'open'],
  config: ['api', 'bucket-settings', 'db-limit', 'egress-ranges', 'project-file', 'usage-error'],
  'bucket-settings': ['usage-error'],
  'db-limit': ['usage-error'],
  'egress-ranges': ['usage-error'],
  'usage-error': [],
  'project-file': [],
  'secret-key': ['store', 'world', 'market', 'config'],
  'uploaded-files': ['store', 'world', 'market'],
  open: ['api', 'store', 'world', 'market', 'web', 'client', 'sim', 'config', 'secret-key', 'uploaded-files'],
  build: ['store'],
  index: ['api', 'market', 'client', 'config', 'open'],
  cli: ['api', 'store', 'world', 'market', 'web', 'client', 'sim', 'config', 'project-file', 'secret-key', 'open'],
}

/**
 * Within the large rooms: a shelf is a folder in one. What lies on no shelf is for all of the room; the files that put the
 * shelves together (`assembles`) are for none of them.
 */
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
      agents: ['webhooks'],
      checks: ['accounts', 'agents', 'webhooks'],
      budgets: ['accounts', 'agents'],
      tasks: ['accounts', 'agents', 'budgets', 'money', 'webhooks'],
      upkeep: ['accounts', 'agents', 'money'],
    },
  },
  store: {
    assembles: ['open.ts'],
    mayImport: {
      migrations: [],
      embedded: ['migrations'],
      postgres: [],
      tables: [],
      files: ['embedded'],
    },
  },
  api: { assembles: [], mayImport: { endpoints: [], openapi: ['endpoints'] } },
  world: { assembles: ['real.ts', 'bucket.ts'], mayImport: { egress: [] } },
  cli: { assembles: ['command-table.ts', 'main.ts', 'operating.ts'], mayImport: { commands: [] } },
}

const importExceptions: Readonly<Record<string, string>> = {
  'src/web/response.ts > store/db.ts': 'a unique index that decides a race is answered with 409',
  'src/web/credentials.ts > store/db.ts': 'names the type of the unit in which a credential is looked up',
  'src/web/idempotency.ts > store/db.ts': 'names the types of the units in which a request and its repeat are served',
  'src/web/serve.ts > store/db.ts': 'names the type of the unit in which a request is served',
  'src/sim/seed.ts > market/accounts/accounts.ts':
    'the simulator is seeded before it listens, with an administrator too',
  'src/sim/seed.ts > market/accounts/keys.ts': 'a lost key of a seeded account is replaced without a session',
  'src/sim/seed.ts > market/market.ts': 'names the type of the marketplace that is seeded',
  'src/sim/seed.ts > market/verbs.ts': 'seeded agents are made by the verbs, before the server listens',
  'src/sim/seed.ts > market/agents/search-index.ts':
    'seeded agents are listed without a review, and found all the same',
  'src/sim/seed.ts > store/tables/agents.ts': 'seeded agents are listed without a review and a test, and then indexed',
  'src/sim/seed.ts > store/db.ts': 'names the type of the unit in which an agent is listed',
  'src/sim/seed.ts > store/tables/keys.ts': 'takes back a seeded key before it makes another',
  'src/sim/seed.ts > store/tables/users.ts': 'looks whether the seeded accounts are there',
}

/** The one file, or folder, that knows a package, once it is used at all. */
const knownBy: Readonly<Record<string, string>> = {
  'sql.js': 'src/store/embedded/sqlite-wasm.ts',
  pg: 'src/store/postgres/',
  polka: 'src/web/server.ts',
  'node-cron': 'src/world/cron.ts',
  undici: 'src/world/egress/',
  nodemailer: 'src/world/mail.ts',
  aws4fetch: 'src/world/bucket.ts',
  commander: 'src/cli/main.ts',
  'lru-cache': 'src/market/bounded-cache.ts',
  otpauth: 'src/market/accounts/totp.ts',
  '@zxcvbn-ts/language-common': 'src/market/accounts/common-passwords.ts',
}

const banned = {
  time: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.(?:now|timeOrigin)\b|\bprocess\.hrtime\b/,
  chance: /\bMath\.random\b|\b(?:randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/,
  network:
    /(?<![\w.#])fetch\s*\(|globalThis\.fetch|\bhttps?\.(?:request|get)\s*\(|\b(?:net|tls)\.(?:connect|createConnection)\s*\(|\bnew (?:WebSocket|EventSource)\b/,
  environment: /\bprocess\.env\b/,
} as const

const homeOf: Readonly<Record<keyof typeof banned, readonly string[]>> = {
  time: ['src/world/real.ts'],
  chance: ['src/world/real.ts'],
  network: ['src/world/egress/connect.ts', 'src/world/egress/egress.ts', 'src/world/egress/happy-eyeballs.ts'],
  environment: ['src/config.ts'],
}

const callExceptions: Readonly<Record<string, string>> = {
  'src/open.ts time': 'migrations run before there is a world',
  'src/secret-key.ts chance': 'the key is made before there is a world, and must never follow a seed',
  'src/market/upkeep/instance-id.ts chance': 'two simulators with the same seed are two marketplaces all the same',
  'src/web/response.ts time': 'how long a request took is told to the log alone',
  'src/web/response.ts chance': 'request ids stay apart between processes, with a seed as without',
  'src/store/embedded/lock.ts time': 'the owner of a lock is judged by the time of files',
  'src/store/embedded/lock.ts chance': 'two who wait for one lock must not follow the same seed',
  'src/store/embedded/lock-owner.ts time': 'a lock says since when it is held',
  'src/store/embedded/lock-owner.ts environment': 'the program that tells when a process started needs its path',
  'src/world/egress/trust.ts environment':
    'before Node 22.15 this is the only way to know which authorities Node trusts',
  'src/world/egress/exchange.ts time': 'the deadline of an exchange is measured, not dated',
  'src/world/egress/stalls.ts time': 'how long the process stood still is measured, not dated',
  'src/world/egress/names.ts time': 'how long a found address is kept is measured, not dated',
  'src/world/egress/hosts-file.ts time': 'when the file is looked at again is measured, not dated',
  'src/world/egress/own-addresses.ts time': 'when the interfaces are looked at again is measured, not dated',
  'src/world/egress/egress.ts time': 'how long ago a connection was made is measured, not dated',
  'src/client/webhooks.ts time': "runs in an agent's process, which has no world",
  'src/client/transport.ts network': "runs in a client's process, which has no world; another fetch can be given",
  'src/client/client.ts time': "signs in an agent's process, which has no world",
  'src/sim/https-front.ts network': 'stands in front of an agent and passes its requests on',
  'src/sim/demo.ts chance': 'makes a password that nobody is to know',
  'src/sim/demo-scenario.ts time': 'waits for another process with patience that ends',
  'src/cli/commands/demo.ts time': 'tells how long the demo took',
  'src/cli/commands/db.ts time': 'migrations run before there is a world',
  'src/cli/commands/serve.ts time': 'tells how long the stop took',
  'src/cli/log-lines.ts time': 'dates the lines on the screen',
}

const MAX_LINES = 400

const room = (path: string) => path.split('/')[1]!.replace(/\.ts$/, '')

/** Comments name what is banned, so they are not looked at. */
const code = (text: string) => text.replace(/^\s*(?:\/\*|\*|\/\/).*$/gm, '').replace(/\s\/\/ .*$/gm, '')

/** Every module that a text names, by whatever form of import. */
function importsOf(text: string): string[] {
  const forms = /(?:\bfrom\s*|\bimport\s*|\bimport\s*\(\s*|\brequire(?:\.resolve)?\s*\(\s*)['"]([^'"\n]+)['"]/g
  return [...code(text).matchAll(forms)].map(match => match[1]!)
}

const packageOf = (name: string) => name.match(/^(?:@[^/]+\/)?[^/]+/)![0]

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
    for (const target of localImports(path, text)) {
      if (room(target) !== room(path)) continue
      const shelf = shelfOf(target)
      const isAssembler = shelf === null && rules.assembles.includes(posix.basename(target))
      const isAllowed = shelf === null ? !isAssembler : shelf === own || rules.mayImport[own ?? '']?.includes(shelf)
      if (!isAllowed) faults.push(`${path} > ${target.slice('src/'.length)}`)
    }
  }
  return faults
}

const localImports = (path: string, text: string): string[] =>
  importsOf(text)
    .filter(name => name.startsWith('.'))
    .map(name => posix.join(posix.dirname(path), name))
    .filter(target => target.startsWith('src/') && target !== path)

/** Each circle of imports once, by the file in it that comes first. */
function circles(files: Files): string[] {
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const walk = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return
    if (state.get(path) === 'open') {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' > '))
      return
    }
    state.set(path, 'open')
    for (const target of localImports(path, files[path] ?? '')) walk(target, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of Object.keys(files)) walk(path, [])
  return found
}

/** A file, or all files of a folder: `src/store/postgres/`. */
const isOrLiesIn = (path: string, home: string) => path === home || (home.endsWith('/') && path.startsWith(home))

function packageFaults(files: Files): string[] {
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    const names = new Set(importsOf(text).filter(name => !name.startsWith('.') && !name.startsWith('node:')))
    for (const name of new Set([...names].map(packageOf))) {
      const home = knownBy[name]
      if (home && !isOrLiesIn(path, home)) faults.push(`${path} knows ${name}, which is for ${home}`)
    }
    if (room(path) === 'api') for (const name of names) if (name !== 'zod') faults.push(`${path} imports ${name}`)
    if (room(path) === 'client') for (const name of names) faults.push(`${path} imports ${name}`)
  }
  for (const [name, home] of Object.entries(knownBy)) {
    const texts = Object.entries(files).filter(([path]) => isOrLiesIn(path, home))
    const known = texts.flatMap(([, text]) => importsOf(text).map(packageOf))
    if (texts.length > 0 && !known.includes(name)) faults.push(`${home} forgot ${name}`)
  }
  return faults
}

function callFaults(files: Files, exceptions: Readonly<Record<string, string>>): string[] {
  const unused = new Set(Object.keys(exceptions))
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    for (const kind of Object.keys(banned) as (keyof typeof banned)[]) {
      const call = code(text).match(banned[kind])?.[0]
      if (!call || homeOf[kind].includes(path) || unused.delete(`${path} ${kind}`)) continue
      faults.push(`${path} uses ${call}: ${kind} is for ${homeOf[kind]}`)
    }
  }
  return [...faults, ...[...unused].map(name => `${name} is excepted, but not there`)]
}

const SQL =
  /\bSELECT\s[\s\S]*?\sFROM\s|\bSELECT\s+(?:COUNT|MAX|MIN|SUM|1)\b|\bINSERT\s+INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b|\b(?:CREATE|DROP|ALTER)\s+(?:TABLE|INDEX)\b|\b(?:ORDER|GROUP)\s+BY\b|\bWHERE\s+[\w.]+\s*(?:[=<>]|IN\b|IS\b)/

function sqlFaults(files: Files): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    const found = path.startsWith('src/store/') ? null : code(text).match(SQL)
    return found ? [`${path} has SQL: ${found[0].slice(0, 60)}`] : []
  })
}

const lengthFaults = (files: Files) =>
  Object.entries(files)
    .map(([path, text]) => [path, text.split('\n').length - 1] as const)
    .filter(([, lines]) => lines >= MAX_LINES)
    .map(([path, lines]) => `${path} has ${lines} lines`)

/** Makes a suite of what it is given, and runs it: test/store/row-effects.ts. */
const MAKES_A_SUITE = /^testRows\(/m

/** uvu says nothing of a suite that is never run. */
function testFaults(files: Files): string[] {
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    const lines = code(text)
    if (MAKES_A_SUITE.test(lines)) continue
    const named = [...lines.matchAll(/^(?:const|let)\s+(\w+)\s*=\s*suite\b/gm)].map(match => match[1]!)
    const plain = /import\s*\{[^}]*\btest\b(?!\s+as)[^}]*\}\s*from\s*'uvu'/.test(lines) ? ['test'] : []
    const suites = [...plain, ...named]
    if (suites.length === 0) faults.push(`${path} has no suite`)
    for (const name of suites) {
      if (!new RegExp(`(?<![.\\w'"\`])${name}\\s*\\(`).test(lines)) faults.push(`${path}: ${name} has no test`)
      if (!new RegExp(`^${name}\\.run\\(\\)`, 'm').test(lines)) faults.push(`${path}: ${name} is never run`)
      if (new RegExp(`^\\s*${name}\\.(?:only|skip)\\b`, 'm').test(lines))
        faults.push(`${path}: ${name} leaves tests out`)
    }
  }
  return faults
}

interface Locked {
  dev?: boolean
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}
type Lock = Readonly<Record<string, Locked>>

function lockFaults(lock: Lock): string[] {
  const faults: string[] = []
  for (const [path, { dev, hasInstallScript, optionalDependencies }] of Object.entries(lock)) {
    if (hasInstallScript && !dev) faults.push(`${path} has an install script`)
    for (const name of Object.keys(optionalDependencies ?? {})) {
      if (!isLocked(lock, path, name)) faults.push(`${path} names ${name}, which is not locked`)
    }
  }
  return faults
}

/** Where a package is looked for: beside its user, then in every folder above. */
function isLocked(lock: Lock, user: string, name: string): boolean {
  for (let folder = user; ; folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    if (`${folder}${folder && '/'}node_modules/${name}` in lock) return true
    if (folder === '') return false
  }
}

function read(folder: string, suffix: string): Files {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => path.replaceAll('\\', '/'))
  return Object.fromEntries(
    paths
      .filter(path => path.endsWith(suffix))
      .sort()
      .map(path => [`${folder}/${path}`, readFileSync(`${folder}/${path}`, 'utf8')]),
  )
}

const sources = read('src', '.ts')
const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages

test('a room imports what the table allows, and nothing else', () => {
  assert.ok(Object.keys(sources).length > 50)
  assert.equal(importFaults(sources, importExceptions), [])
  for (const reason of Object.values(importExceptions)) assert.ok(reason.length > 10)
})

test('a forbidden import is found in each of its forms', () => {
  const from = (path: string, text: string) => importFaults({ [path]: text }, {})
  assert.equal(from('src/store/a.ts', "import { x } from '../market/b.ts'"), ['src/store/a.ts > market/b.ts'])
  assert.equal(from('src/store/a.ts', "import type {\n  X,\n} from '../web/b.ts'"), ['src/store/a.ts > web/b.ts'])
  assert.equal(from('src/open.ts', "await import('./cli/main.ts')"), ['src/open.ts > cli/main.ts'])
  assert.equal(from('src/api/a.ts', "export * from '../config.ts'"), ['src/api/a.ts > config.ts'])
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

test('no file imports itself by way of others, by types neither', () => {
  assert.equal(circles(sources), [])
  const circle = { 'src/a/a.ts': "import type { B } from './b.ts'", 'src/a/b.ts': "import { a } from './a.ts'" }
  assert.equal(circles(circle), ['src/a/a.ts > src/a/b.ts > src/a/a.ts'])
})

test('one file or folder knows each of the packages that could be changed for another', () => {
  assert.equal(packageFaults(sources), [])
  assert.equal(packageFaults({ 'src/store/postgres/x.ts': "import pg from 'pg'" }), [])
  assert.is(packageFaults({ 'src/store/postgresque.ts': "import pg from 'pg'" }).length, 1)
  assert.is(packageFaults({ 'src/store/a.ts': "import sql from 'sql.js/dist/sql-wasm.js'" }).length, 1)
  assert.is(packageFaults({ 'src/market/a.ts': "import type { Pool } from 'undici'" }).length, 1)
  assert.is(packageFaults({ 'src/web/server.ts': "import http from 'node:http'" }).length, 1)
  assert.is(packageFaults({ 'src/api/a.ts': "import pino from 'pino'" }).length, 1)
  assert.is(packageFaults({ 'src/client/a.ts': "import { z } from 'zod'" }).length, 1)
})

test('clock, chance, network and environment are asked in their own file alone', () => {
  assert.equal(callFaults(sources, callExceptions), [])
})

test('SQL stands in the store alone', () => {
  assert.equal(sqlFaults(sources), [])
  const texts = [
    ...['SELECT id FROM agents', 'SELECT COUNT(*)', 'INSERT INTO x (y)', 'UPDATE agents SET', 'DELETE FROM x'],
    ...['CREATE TABLE x', 'x ORDER BY y', 'WHERE id = $1', 'WHERE a.id IN (1)', 'SELECT\n  id\nFROM agents'],
  ]
  for (const text of texts) assert.is(sqlFaults({ 'src/market/a.ts': `q.get(\`${text}\`)` }).length, 1, text)
  assert.equal(sqlFaults({ 'src/store/tables/a.ts': 'SELECT id FROM x', 'src/open.ts': '// SELECT id FROM x' }), [])
})

test('every form of a banned call is found', () => {
  const calls = [
    ...['Date.now()', 'const now = Date.now', 'new Date()', 'performance.now()', 'process.hrtime.bigint()'],
    ...[
      'Math.random()',
      'crypto.randomUUID()',
      "import { randomBytes } from 'node:crypto'",
      'crypto.getRandomValues(x)',
    ],
    ...["fetch('x')", 'globalThis.fetch', 'http.request(x)', 'https.get(x)', 'net.connect(1)', 'tls.connect(1)'],
    ...['process.env.HOME', 'const { HOME } = process.env'],
  ]
  for (const call of calls) assert.is(callFaults({ 'src/market/a.ts': `x = 1\n${call}` }, {}).length, 1, call)
  const harmless = ['new Date(ms).toISOString()', '// Date.now()', ' * fetch(x)', 'await this.fetch(x)', 'prefetch(x)']
  for (const text of harmless) assert.equal(callFaults({ 'src/market/a.ts': text }, {}), [], text)
  assert.is(callFaults({}, { 'src/a.ts time': 'gone' }).length, 1)
})

test('every test file has tests, and runs them all', () => {
  assert.equal(testFaults(read('test', '.test.ts')), [])
  const use = "import { test } from 'uvu'\n"
  const one = "test('a', () => {})\n"
  assert.equal(testFaults({ a: `${use}${one}test.run()\n` }), [])
  assert.equal(testFaults({ a: use + one }), ['a: test is never run'])
  assert.equal(testFaults({ a: `${use}${one}// test.run()\n` }), ['a: test is never run'])
  assert.equal(testFaults({ a: `${use}test.run()\n` }), ['a: test has no test'])
  assert.equal(testFaults({ a: `${use}${one}test.${'only'}('b', () => {})\ntest.run()\n` }), [
    'a: test leaves tests out',
  ])
  assert.equal(testFaults({ a: '' }), ['a has no suite'])
  assert.equal(testFaults({ a: "const s = suite('x')\ns('a', () => {})\n" }), ['a: s is never run'])
})

test('the lock holds every optional package that it names, and nothing that is used runs a script', () => {
  assert.equal(lockFaults(lock), [])
  assert.ok(Object.values(lock).some(({ optionalDependencies }) => optionalDependencies))
  assert.is(lockFaults({ 'node_modules/a': { hasInstallScript: true } }).length, 1)
  assert.equal(lockFaults({ 'node_modules/a': { hasInstallScript: true, dev: true } }), [])
  const user = { optionalDependencies: { b: '1' } }
  assert.is(lockFaults({ 'node_modules/a': user }).length, 1)
  assert.equal(lockFaults({ 'node_modules/a': user, 'node_modules/b': {} }), [])
  assert.equal(lockFaults({ 'node_modules/c/node_modules/@x/a': user, 'node_modules/c/node_modules/b': {} }), [])
  assert.is(lockFaults({ 'node_modules/a': user, 'node_modules/c/node_modules/b': {} }).length, 1)
})

test('a file under src has fewer than 400 lines', () => {
  assert.equal(lengthFaults(sources), [])
  assert.is(lengthFaults({ 'src/a.ts': '\n'.repeat(400) }).length, 1)
  assert.ok(existsSync('src/open.ts'))
})

test.run()
