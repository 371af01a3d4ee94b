// engines: embedded; process: own
/** No test asserts how fast a machine is: it waits for what must happen, with the one patience of test/support/patience.ts. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PATIENCE_MS } from '../support/patience.ts'
import { code, type Files, read } from './sources.ts'

/** What measures on purpose: the bench, the long proof of neighbours, mutations that run tests, and the runner itself. */
const MEASURES = /^test\/(?:bench|neighbour|mutation)\/|^test\/(?:\w+\/)*(?:run|full)\.ts$/

const CLOCK = String.raw`(?:performance|Date)\.now\(\)`
const NUMBER = String.raw`(?<ms>[\d_]+|[A-Z][\w.]*)`

/** Each with what it is. One with a number is a fault only if that is a shorter time than the patience. */
const forms = {
  'how long something took': new RegExp(
    String.raw`${CLOCK} - [a-z]|[\w)\]!] - ${CLOCK}|${CLOCK} [<>]=? |[<>]=? ${CLOCK}|\bassert\.ok\([^\n]*\b(?:ms|\w+Ms)\)? <=? [\d_]+`,
  ),
  'a deadline': new RegExp(String.raw`= ${CLOCK} \+ ${NUMBER}`),
  'a time-out': new RegExp(String.raw`\b(?:AbortSignal\.timeout\(|timeout: )${NUMBER}`),
  'a rejection by the clock': new RegExp(
    String.raw`\bsetTimeout\((?:reject|\(\) => (?:\w+\.)*(?:reject|kill|fail|close|destroy|abort)\b[^\n]*|[^\n]*new Error[^\n]*), ${NUMBER}`,
  ),
  'so many tries':
    /\b(?:for|while) \([^\n]*(?:&& \w+\+* <=? [\d_]+\b|\b\w+ <=? [\d_]+ &&)[^\n]*\)[^\n]*\n?[^\n]*\b(?:setTimeout|pause|wait|sleep)\(|\b(?:tries|waited) (?:[<>]=?|===) [\d_]+|\bassert\.ok\([a-z] < \d/,
}

/** These may only become fewer: the number is how often each is there. */
const exceptions: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'test/cli/fault.test.ts': [1, 'a fault delays a response by so much at least: a slow machine can only make it later'],
  'test/cli/mcp.test.ts': [1, 'two costs of one run, the least of four each'],
  'test/crash/balancer.ts': [1, 'closes connections that nobody uses'],
  'test/crash/deployment.ts': [1, 'told by the long run, asserted nowhere'],
  'test/crash/drills.ts': [
    1,
    'three seconds are what is promised of instances, on a machine that has nothing else to do',
  ],
  'test/crash/ends.ts': [1, 'told by the long run, asserted nowhere'],
  'test/crash/fleet-heartbeat.ts': [1, 'told by the long run, asserted nowhere'],
  'test/crash/frozen.ts': [1, 'part of the same promise'],
  'test/market/quotas.test.ts': [1, 'two costs of one run, in turn: one pair of twenty that is alike is enough'],
  'test/sim/agents/https-front.test.ts': [1, 'an agent that hangs up in the midst'],
  'test/support/postgres-server.ts': [2, 'servers that end at once, as their port is taken: a slow one is waited for'],
  'test/web/upload-cases.ts': [1, 'a client that hangs up in the midst'],
}

/** `path: form: text`, once for each place. */
function timed(files: Files): string[] {
  return Object.entries(files).flatMap(([path, text]) => {
    const bare = code(text)
    return Object.entries(forms).flatMap(([what, form]) =>
      [...bare.matchAll(new RegExp(form, 'g'))]
        .filter(({ groups }) => groups?.ms === undefined || isShort(bare, groups.ms))
        .map(([found]) => `${path}: ${what}: ${found.trim()}`),
    )
  })
}

/** A number, or a constant of the same file. Others are those of the product, or the patience itself. */
function isShort(text: string, ms: string): boolean {
  const value = /^\d/.test(ms) ? ms : new RegExp(String.raw`\bconst ${ms}(?:: \w+)? = ([\d_]+)\b`).exec(text)?.[1]
  return value !== undefined && Number(value.replaceAll('_', '')) < PATIENCE_MS
}

function faultsIn(files: Files, excepted: typeof exceptions): string[] {
  const found = timed(files)
  const countOf = (path: string) => found.filter(fault => fault.startsWith(`${path}:`)).length
  return [
    ...found.filter(fault => excepted[fault.slice(0, fault.indexOf(':'))] === undefined),
    ...Object.entries(excepted)
      .filter(([path, [count]]) => countOf(path) !== count)
      .map(([path, [count]]) => `${path} is excepted for ${count}, and has ${countOf(path)}`),
  ]
}

const tests = Object.fromEntries(
  Object.entries({ ...read('test', '.ts'), ...read('test', '.js') }).filter(
    ([path]) => !MEASURES.test(path) && path !== 'test/architecture/waits.test.ts',
  ),
)

test('no test fails because a machine is slow', () => {
  assert.equal(faultsIn(tests, exceptions), [])
})

test('every form of a timed assertion is found', () => {
  const planted = [
    'assert.ok(performance.now() - from < 2_000)',
    'const tookMs = Date.now() - from',
    'assert.ok(end.ms < 15_000)',
    'while (!isOver && performance.now() < end) await pause(5)',
    'const until = Date.now() + 5000',
    'const LIMIT_MS = 5_000\nconst until = Date.now() + LIMIT_MS',
    'const signal = AbortSignal.timeout(10_000)',
    'setTimeout(reject, 5000)',
    'const late = setTimeout(() => child.kill(), 30_000)',
    'for (let n = 0; !isOver && n < 200; n++)\n  await new Promise(go => setTimeout(go, 10))',
    'assert.ok(tries < 500)',
  ]
  for (const text of planted) assert.is(faultsIn({ 'test/a.ts': text }, {}).length, 1, text)
  const harmless = [
    "setTimeout(() => resolve('on'), 50)",
    'new Date(Date.now() + 30_000).toUTCString()',
    'signatureHeaders(secret, Date.now() - 301_000, body)',
    'const signal = AbortSignal.timeout(PATIENCE_MS)',
    '// while (Date.now() < until)',
  ]
  for (const text of harmless) assert.equal(faultsIn({ 'test/a.ts': text }, {}), [], text)
  assert.is(faultsIn({}, { 'test/a.ts': [1, 'gone'] }).length, 1)
})

test.run()
