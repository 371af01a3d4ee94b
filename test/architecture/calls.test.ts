// engines: embedded; process: own
/** What is asked in one place alone: clock, chance, network, environment, what the command line writes and, of the store, SQL. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { code, type Files, sources } from './sources.ts'

const banned = {
  time: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.(?:now|timeOrigin)\b|\bprocess\.hrtime\b/,
  chance: /\bMath\.random\b|\b(?:randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/,
  network:
    /(?<![\w.#])fetch\s*\(|globalThis\.fetch|\bhttps?\.(?:request|get)\s*\(|\b(?:net|tls)\.(?:connect|createConnection)\s*\(|\bnew (?:WebSocket|EventSource)\b/,
  environment: /\bprocess\.env\b/,
  streams: /\bconsole\.(?!ts\b)\w+|\bprocess\.(?:stdout|stderr)\b/,
  output:
    /(?<!\bcursor)\.write\b|\bconsole\.(?!ts\b)\w+|\b(?:write|append)File(?:Sync)?\s*\(|\bcreateWriteStream\s*\(|\bwriteSync\s*\(/,
} as const

/** Elsewhere it is no fault. */
const isBannedIn: Partial<Record<keyof typeof banned, (path: string) => boolean>> = {
  // A browser has the clock of its own machine alone.
  time: path => !path.startsWith('src/console/'),
  streams: path => !path.startsWith('src/cli/'),
  output: path => path.startsWith('src/cli/'),
}

const homeOf: Readonly<Record<keyof typeof banned, readonly string[]>> = {
  time: ['src/world/real.ts'],
  chance: ['src/world/real.ts'],
  network: ['src/world/egress/connect.ts', 'src/world/egress/egress.ts', 'src/world/egress/happy-eyeballs.ts'],
  environment: ['src/settings/config.ts'],
  streams: ['src/cli/'],
  output: ['src/cli/output/ui.ts'],
}

const callExceptions: Readonly<Record<string, string>> = {
  'src/api/diagnosis/causes.ts time': 'names the call in a sentence for people',
  'src/open/open.ts time': 'migrations run before there is a world',
  'src/open/secret-key.ts chance': 'the key is made before there is a world, and must never follow a seed',
  'src/market/upkeep/instance-id.ts chance': 'two simulators with the same seed are two marketplaces all the same',
  'src/web/response.ts time': 'how long a request took is told to the log alone',
  'src/web/response.ts chance': 'request ids stay apart between processes, with a seed as without',
  'src/web/turns.ts time': 'how long the thread was held is measured, not dated',
  'src/web/stream.ts time': 'how long the thread was held is measured, not dated',
  'src/web/serve.ts time': 'how long the thread was held is measured, not dated',
  'src/store/postgres/database.ts time': 'how long a connection was had is measured, not dated',
  'src/store/around.ts time': 'how long a unit took is told to the metrics alone',
  'src/web/metrics.ts time': 'when the process has started is told to the metrics alone',
  'src/store/debug.ts time': 'how long a unit took is told to a debug line alone',
  'src/world/egress/debug.ts time': 'how long an attempt took is told to a debug line alone',
  'src/store/embedded/lock.ts time': 'the owner of a lock is judged by the time of files',
  'src/store/embedded/lock.ts chance': 'two who wait for one lock must not follow the same seed',
  'src/store/embedded/lock-owner.ts time': 'a lock says since when it is held',
  'src/shared/process-identity.ts environment': 'the program that tells when a process started needs its path',
  'src/world/egress/trust.ts environment':
    'before Node 22.15 this is the only way to know which authorities Node trusts',
  'src/world/egress/outgoing-post.ts time':
    'the deadline of a POST, and how long the process stood still, are measured and not dated',
  'src/world/egress/hosts-file.ts time': 'when the file is looked at again is measured, not dated',
  'src/world/egress/public-rule.ts time': 'when the interfaces are looked at again is measured, not dated',
  'src/world/egress/egress.ts time': 'how long ago a connection was made is measured, not dated',
  'src/client/callbacks.ts time': "runs in an agent's process, which has no world",
  'src/client/verify-webhook.ts time': "runs in an agent's process, which has no world",
  'src/client/transport.ts network': "runs in a client's process, which has no world; another fetch can be given",
  'src/console/api.ts network': 'runs in a browser, which has no world',
  'src/console/live.ts network': 'runs in a browser, which has no world',
  'src/client/typed-client.ts time': "signs in an agent's process, which has no world",
  'src/sim/agents/https-front.ts network': 'stands in front of an agent and passes its requests on',
  'src/sim/agents/agent-watch.ts network':
    'looks whether an agent of this machine accepts connections, and sends nothing',
  'src/conform/history/machine-time.ts time': 'an agent is watched from outside of any marketplace',
  'src/sim/callbacks/pass-on.ts network': 'stands in front of a marketplace and passes requests on',
  'src/cli/commands/simulate-buyers.ts chance': 'chooses the seed of a crowd',
  'src/cli/commands/conformance.ts chance': 'chooses the seed of a run',
  'src/cli/dev/simulator.ts chance': 'the key is made before there is a world, and must never follow a seed',
  'src/sim/demo/demo.ts chance': 'makes a password that nobody is to know',
  'src/sim/demo/demo.ts time': 'waits for another process with patience that ends',
  'src/cli/commands/emit.ts time': 'how long callbacks are waited for is measured, not dated',
  'src/cli/commands/deliveries-resend.ts time': 'how long deliveries are followed is measured, not dated',
  'src/cli/commands/logs.ts time': 'counts back from now by the clock of the machine, as the lines say it',
  'src/cli/connection/domain-time.ts time': 'counts back from now, where no simulator says what time it is',
  'src/cli/commands/doctor.ts time': "compares this machine's clock with that of a marketplace",
  'src/cli/commands/demo.ts time': 'tells how long the demo took',
  'src/cli/commands/db.ts time': 'migrations run before there is a world',
  'src/cli/commands/serve.ts time': 'tells how long the stop took',
  'src/cli/commands/sign.ts time': 'signs without a marketplace, by the clock of the machine',
  'src/cli/commands/verify.ts time': 'judges a signature without a marketplace, by the clock of the machine',
  'src/cli/log/debug-lines.ts time': 'dates the debug lines',
  'src/cli/mcp/calls.ts time': 'tells how long a call has taken so far',
  'src/cli/output/progress.ts time': 'tells how long a wait has taken so far',
  'src/cli/keys/key-screen.ts time': 'dates what a key did',
  'src/client/work.ts streams': "runs in an agent's process, which has no command line",
  'src/client/agent-handler.ts time': "runs in an agent's process, which has no world",
  'src/client/agent-handler.ts streams': "runs in an agent's process, which has no command line",
  'src/cli/doctor/machine.ts output': 'mends a .gitignore, of its own words',
  'src/cli/dev/simulator.ts output': 'keeps a key, which is a secret',
  'src/cli/output/whole-file.ts output': 'keeps sessions, which are secrets, and files byte for byte',
  'src/cli/commands/tasks.ts output': 'saves a file byte for byte',
  'src/cli/dev/output-reader.ts output': 'writes nothing, to learn whether anybody reads',
  'src/cli/commands/exec.ts output': 'opens the file that its Ui writes to',
  'src/cli/command-runner.ts output': 'keeps what a command has written, for a client of mcp',
}

function callFaults(files: Files, exceptions: Readonly<Record<string, string>>): string[] {
  const unused = new Set(Object.keys(exceptions))
  const faults: string[] = []
  for (const [path, text] of Object.entries(files)) {
    for (const kind of Object.keys(banned) as (keyof typeof banned)[]) {
      const call = code(text).match(banned[kind])?.[0]
      if (!call || isBannedIn[kind]?.(path) === false) continue
      if (homeOf[kind].includes(path) || unused.delete(`${path} ${kind}`)) continue
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

test('clock, chance, network, environment and what is written are asked in their own file alone', () => {
  assert.equal(callFaults(sources, callExceptions), [])
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
    ...['process.env.HOME', 'const { HOME } = process.env', 'console.error(x)', 'write(process.stderr, x)'],
  ]
  for (const call of calls) assert.is(callFaults({ 'src/market/a.ts': `x = 1\n${call}` }, {}).length, 1, call)
  const outputs = [
    ...[
      'process.stdout.write(x)',
      '(json ? stderr : stdout).write(x)',
      'console.log(x)',
      'const { write } = stdout.write',
    ],
    ...['writeFileSync(path, x)', 'appendFileSync(path, x)', 'createWriteStream(path)', 'fs.writeSync(1, x)'],
  ]
  for (const call of outputs) assert.is(callFaults({ 'src/cli/a.ts': call }, {}).length, 1, call)
  assert.equal(callFaults({ 'src/cli/a.ts': 'write(process.stderr, x)', 'src/store/a.ts': 'db.write(x)' }, {}), [])
  const harmless = ['new Date(ms).toISOString()', '// Date.now()', ' * fetch(x)', 'await this.fetch(x)', 'prefetch(x)']
  for (const text of harmless) assert.equal(callFaults({ 'src/market/a.ts': text }, {}), [], text)
  assert.is(callFaults({}, { 'src/a.ts time': 'gone' }).length, 1)
})

test('SQL stands in the store alone', () => {
  assert.equal(sqlFaults(sources), [])
  const texts = [
    ...['SELECT id FROM agents', 'SELECT COUNT(*)', 'INSERT INTO x (y)', 'UPDATE agents SET', 'DELETE FROM x'],
    ...['CREATE TABLE x', 'x ORDER BY y', 'WHERE id = $1', 'WHERE a.id IN (1)', 'SELECT\n  id\nFROM agents'],
  ]
  for (const text of texts) assert.is(sqlFaults({ 'src/market/a.ts': `q.get(\`${text}\`)` }).length, 1, text)
  assert.equal(
    sqlFaults({ 'src/store/tables/a.ts': 'SELECT id FROM x', 'src/open/open.ts': '// SELECT id FROM x' }),
    [],
  )
})

test.run()
