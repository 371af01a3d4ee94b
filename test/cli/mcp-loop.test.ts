// engines: embedded; process: shared; lengths: long
/** A coding agent mends the agent that it writes by the tools of `mcp` alone, with what a client of the official SDK does by itself. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/patience.ts'
import { adviceIn, connectIn, type McpClient, type ToolAnswer } from './mcp-client.ts'
import { startDev } from './program.ts'

const right = readFileSync(new URL('../../examples/node-agent.mjs', import.meta.url), 'utf8')
const wrong = right.replace(
  'const timestamp = String(Date.now())',
  'const timestamp = String(Math.floor(Date.now() / 1000))',
)

let folder = ''
let client: McpClient
let stopDev: () => Promise<unknown>

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-mcp-'))
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src', 'agent.mjs'), wrong)
  stopDev = (await startDev(folder, {}, ['--run', 'node src/agent.mjs', '--watch', 'src'])).stop
  client = await connectIn(folder, '--start', 'node src/agent.mjs')
})

test.after(async () => {
  await client.close()
  await stopDev()
  rmSync(folder, { recursive: true, force: true })
})

/** The end of a call, by its handle for as long as it goes on. Each answer comes before the SDK gives up, or this rejects. */
async function ended(
  answer: Promise<ToolAnswer>,
  handles: string[] = [],
  how: RequestOptions = {},
): Promise<ToolAnswer> {
  const told = await answer
  const [advice] = adviceIn(told.text).filter(([name]) => name === 'result')
  if (!advice) return told
  handles.push(told.text)
  return ended(client.said(...advice, how), handles, how)
}

const TICK_MS = 100
/** Clients are to hear something every five seconds. */
const MOST_TICKS = 50

/** Counts ticks, not time: where the machine stands still, they do too. */
function silence() {
  let now = 0
  let longest = 0
  const ticking = setInterval(() => (longest = Math.max(longest, ++now)), TICK_MS)
  return {
    broken() {
      now = 0
    },
    end() {
      clearInterval(ticking)
      return longest
    },
  }
}

test('hire, see why it fails, mend, and judge until nothing is broken: no call meets a time-out', async () => {
  assert.is.not(right, wrong)
  const isTested = async () => (await client.said('market_status')).text.includes('Unix time in milliseconds')
  await until('the test of dev', isTested, 100)
  const hired = await ended(client.said('hire', { agent: 'my-agent' }))
  assert.ok(hired.isError, hired.text)
  assert.match(hired.text, 'Unix time in milliseconds')
  const [why] = adviceIn(hired.text).filter(([name]) => ['why', 'task', 'test_connection'].includes(name))
  assert.ok(why, hired.text)
  assert.match((await ended(client.said(...why!))).text, 'Unix time in milliseconds')

  writeFileSync(join(folder, 'src', 'agent.mjs'), right)
  const passes = async () => /✔ 5 /.test((await client.said('test_connection', { agent: 'my-agent' })).text)
  await until('an agent that is mended', passes, 200)
  const again = await ended(client.said('hire', { agent: 'my-agent' }))
  assert.not.ok(again.isError, again.text)
  assert.match(again.text, /Task task_\w+ is completed/)

  const heard: number[] = []
  const handles: string[] = []
  const quiet = silence()
  const onprogress = ({ progress }: { progress: number }) => {
    heard.push(progress)
    quiet.broken()
  }
  const judged = await ended(client.said('conformance', { wait: 8 }, { onprogress }), handles, { onprogress })
  const longest = quiet.end()
  assert.match(judged.text, /must (\d+)\/\1\b/)
  assert.not.match(judged.text, /^· /m)
  assert.ok(handles.length > 0, 'it lasted longer than the client waited')
  assert.ok(heard.length > 1, 'it told how it gets on')
  assert.ok(longest <= MOST_TICKS, `it said nothing for ${longest} ticks of ${TICK_MS} ms`)
  assert.match(handles[0]!, /^conformance goes on after \d+ s\.\n/)
})

test.run()
