// engines: embedded; process: own; lengths: long
/** What the package brings along, as npm would pack it: everything that its own files ask for. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deadLinksIn } from '../docs/links.ts'
import { pack } from '../support/packed.ts'
import { inTime, PATIENCE_MS } from '../support/patience.ts'
import { inFolder } from './program.ts'

const { name, exports, bin, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const { files, install, remove } = pack()
test.after(remove)
const packed = new Set(files)

const IMPORT = /(?:\bfrom|\bimport|\bimport\(|\bcreateRequire\d*\([\s\w.]+\)\()\s*(["'])([^"'\n]+)\1/g
const program = [...packed].filter(path => /\.m?js$/.test(path) && /^(?:bin|dist|fixtures\/agents)\//.test(path))
const imports = program.flatMap(path =>
  [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(([, , what]) => ({ path, what: what! })),
)

test('all that the package exports is in it', () => {
  const targets: string[] = [bin.marketplace, ...Object.values(exports).flatMap(flat)]
  assert.ok(targets.length > 7)
  for (const target of targets) assert.ok(packed.has(posix.normalize(target)), target)
})

test('every file of the program finds what it imports among the packed', () => {
  const own = imports.filter(({ what }) => what.startsWith('.'))
  assert.ok(own.length > 50)
  for (const { path, what } of own) {
    const target = posix.join(posix.dirname(path), what)
    assert.ok(packed.has(target), `${path} imports ${target}`)
  }
})

test('packages that stay outside are dependencies, and those taken in bring their licence', () => {
  const outside = imports.map(({ what }) => what).filter(what => /^(?:@[\w-]+\/)?[a-z][\w.-]*(?:\/|$)/.test(what))
  for (const what of outside) {
    const [scope, rest] = what.split('/')
    const known = what.startsWith('@') ? `${scope}/${rest}` : scope!
    assert.ok(known === name || known in dependencies || known in peerDependencies, what)
  }
  assert.ok(outside.includes('commander'))
  assert.not.ok(outside.includes('zod'))
  assert.ok(packed.has('dist/bundle/zod.LICENSE'))
})

test('threads, the empty database and what else lies beside the program is packed, each thing once', () => {
  for (const path of ['dist/bundle/snapshot-worker.js', 'dist/bundle/empty.db', 'fixtures/agents/sample.mjs']) {
    assert.ok(packed.has(path), path)
  }
  assert.ok(existsSync('dist/market/tasks/tasks.js'))
  assert.not.ok(packed.has('dist/market/tasks/tasks.js'))
})

test('of the declarations those of the exports are packed alone, and nothing for tests or contributors', () => {
  const declarations = [...packed].filter(path => path.endsWith('.d.ts'))
  assert.ok(declarations.includes('dist/types/open/embed.d.ts'))
  const inside = declarations.filter(path => /types\/(?:store|web|sim|settings|conform|cli)\//.test(path))
  assert.equal(inside, [], 'types of the inside')
  for (const path of packed) assert.not.match(path, /^(?:fixtures\/authorization|fixtures\/forbidden|src|test)/)
  for (const path of packed) assert.not.match(path, /^docs\/(?:decisions|architecture|coverage|openapi)/)
})

test('an install runs no script, and its only program has a name that npx finds', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'])
    assert.not.ok(name in scripts, name)
  assert.equal(Object.keys(bin), ['marketplace'], 'npx agent-marketplace runs the only one')
})

test('each link of a packed page leads to a file or a heading of the package', () => {
  const pages = [...packed].filter(path => /\.md$|\/llms\.txt$/.test(path))
  assert.ok(pages.includes('docs/llms.txt'))
  assert.ok(pages.length > 20)
  // For who reads in the repository: they weigh more than the program.
  const pictures = readdirSync('docs/pictures').map(name => `docs/pictures/${name}`)
  const there = new Set([...packed, ...pictures])
  assert.equal(
    pages.flatMap(page => deadLinksIn(page, there).map(target => `${page}: ${target}`)),
    [],
  )
  assert.equal(deadLinksIn('docs/glossary.md', packed, '[a](../src/index.ts) [b](guides)'), ['../src/index.ts'])
})

const CONSUMER = `
import { type LogEntry, type Marketplace, type OpenOptions, openMarketplace } from 'agent-marketplace'
import { type CallReply, type Client, createClient, MarketplaceError } from 'agent-marketplace/client'
import { agentHandler, type TaskSubmitted, type WebhookEvent, verifyWebhook } from 'agent-marketplace/webhooks'

/** Fails to compile if a declaration is missing: what can't be resolved counts as any. */
type Whole<T> = 0 extends 1 & T ? never : T
const keep = <T,>(_value: Whole<T>): void => {}

export async function use(options: OpenOptions, entry: LogEntry): Promise<void> {
  const marketplace: Marketplace = await openMarketplace({ ...options, mode: 'dev', file: null })
  keep(marketplace), keep(marketplace.close), keep(options.log), keep(options.onExchange), keep(entry)
  // @ts-expect-error the inside is nobody's business
  marketplace.market
  const client: Client = createClient({ baseUrl: marketplace.url })
  const task: CallReply<'getTask'> = await client.getTask({ id: 'task_1' })
  keep(task), keep(task.status), keep(task.agreedPrice), keep(new MarketplaceError({} as never).errors)
  const status: 'draft' | 'pending' | 'in_progress' | 'delivered' | 'completed' | 'cancelled' = task.status
  const event: WebhookEvent = verifyWebhook({ body: status, headers: {}, secret: 'whsec_x' })
  keep(event), keep(event.data), keep(event.data.requestor)
  keep(agentHandler({ secret: 'whsec_x', onTask: (one: TaskSubmitted) => one.data.agreedPrice.toFixed() }))
  // @ts-expect-error there is no such field
  await client.createTask({ agent: 'agt_1' })
}
`

test(
  'a consumer of the packed package compiles against all of its exports, and its program runs',
  inFolder(async folder => {
    // What a user has who installed the package and types of Node, and no more: a declaration that needs another is noticed.
    const program = install(folder, { more: ['@types/node'] })
    writeFileSync(join(folder, 'consumer.mts'), CONSUMER)
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2023']
    const compile = () =>
      spawnSync(
        process.execPath,
        [
          resolve('node_modules/typescript/bin/tsc'),
          ...strict,
          '--module',
          'nodenext',
          '--types',
          'node',
          'consumer.mts',
        ],
        { cwd: folder, encoding: 'utf8' },
      )
    const compiled = compile()
    assert.is(compiled.status, 0, compiled.stdout)
    const { stdout } = spawnSync(process.execPath, [program, '--version'], { cwd: folder, encoding: 'utf8' })
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
    const serve = [program, 'serve', '--db', 'market.db', '--port', '0', '--json']
    const traced = { cwd: folder, env: { ...process.env, MARKETPLACE_TRACING: 'on' } }
    const refused = spawnSync(process.execPath, serve, { ...traced, encoding: 'utf8', timeout: PATIENCE_MS })
    const said = refused.stdout + refused.stderr
    assert.is(refused.status, 2, said)
    assert.match(said, 'MARKETPLACE_TRACING=on needs the package @opentelemetry/api')
    assert.match(said, 'npm install @opentelemetry/api @opentelemetry/sdk-node')
    const scope = join(folder, 'node_modules', '@opentelemetry')
    mkdirSync(scope)
    symlinkSync(resolve('node_modules/@opentelemetry/api'), join(scope, 'api'))
    const child = spawn(process.execPath, serve, { ...traced, stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout.once('data', () => child.kill())
    const [code] = await inTime('the end of a server that traces', once(child, 'close'))
    assert.is(code, 0)
    rmSync(join(program, '..', '..', 'dist', 'types', 'market', 'log.d.ts'))
    assert.is.not(compile().status, 0, 'a missing declaration is noticed')
  }),
)

function flat(entry: unknown): string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry as Record<string, string>)
}

test.run()
