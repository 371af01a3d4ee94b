// engines: embedded; process: shared
/** Calls that last longer than their client waits: progress, handles, clients that give up, and how many there may be. */
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Answer, Calls, type Waiting } from '../../src/cli/mcp/calls.ts'
import { until } from '../support/patience.ts'

const stop = new AbortController()
const here = (): Waiting & { leave(reason: string): void } => {
  const asked = new AbortController()
  return { signal: asked.signal, tell: () => {}, leave: reason => asked.abort(reason) }
}

/** Work that ends when it is told to, or is stopped. */
function job() {
  let end = (_: Answer) => {}
  const job = {
    begun: 0,
    stopped: false,
    say: (_: string) => {},
    end: (text: string) => end({ text, isError: false }),
    work: (signal: AbortSignal, onLine: (line: string) => void) => {
      job.begun++
      job.say = onLine
      return new Promise<Answer>(resolve => {
        const stopped = () => {
          job.stopped = true
          resolve({ text: 'stopped', isError: true })
        }
        signal.addEventListener('abort', stopped)
        end = answer => {
          signal.removeEventListener('abort', stopped)
          resolve(answer)
        }
      })
    },
  }
  return job
}

const handleIn = ({ text }: Answer) => /result \{"handle":"(\w+)"/.exec(text)![1]!

test('a call that lasts answers with a handle, and the handle gives its end, once', async () => {
  const calls = new Calls(stop.signal)
  const one = job()
  const made = calls.make('judge', 'k', one.work, here(), 0.01)
  const early = await made
  assert.match(early.text, /^judge goes on after \d+ s\.\nNext: result \{"handle":"call_1"\}$/)
  assert.is(early.isError, false)
  assert.is(one.begun, 1)
  const handle = handleIn(early)
  const later = calls.result(handle, false, here())
  one.end('done')
  assert.equal(await later, { text: 'done', isError: false })
  assert.equal(await calls.result(handle, false, here()), {
    text: 'There is no call_1 any more: make the call again.',
    isError: true,
  })
})

test('a call that fails says why, and one that goes on says what was said last', async () => {
  const calls = new Calls(stop.signal)
  const failing = () => Promise.reject(new Error('It has no hands.'))
  assert.equal(await calls.make('judge', 'k', failing, here()), { text: 'It has no hands.', isError: true })
  const one = job()
  const early = calls.make('judge', 'k', one.work, here(), 0)
  one.say('played 3 of 9')
  assert.match((await early).text, /^judge goes on after \d+ s\.\nplayed 3 of 9\nNext: result \{"handle":"call_2"\}$/)
  one.end('done')
})

test('while it lasts its client hears what was said last', async () => {
  const calls = new Calls(stop.signal)
  const one = job()
  const heard: [number, string][] = []
  const made = calls.make('judge', 'k', one.work, { ...here(), tell: (...told) => heard.push(told) })
  one.say('played 3 of 9')
  await until('progress', () => heard.length > 1)
  assert.is(heard[0]![1], 'played 3 of 9')
  assert.ok(heard[1]![0] > heard[0]![0], 'it must grow')
  one.end('done')
  await made
  const count = heard.length
  await wait(10)
  assert.is(heard.length, count)
})

test('a client whose time is out finds the handle in the next answer, or joins by the same call', async () => {
  const calls = new Calls(stop.signal)
  const one = job()
  const client = here()
  const made = calls.make('judge', 'k', one.work, client)
  client.leave('McpError: MCP error -32001: Request timed out')
  await made
  assert.not.ok(one.stopped)
  assert.is(calls.lost(), '\n\njudge was given up by its client and goes on: result {"handle":"call_1"}')
  const again = calls.make('judge', 'k', one.work, here())
  assert.is(calls.lost(), '')
  one.end('done')
  assert.is((await again).text, 'done')
  assert.is(one.begun, 1)
  const ended = job()
  const impatient = here()
  const left = calls.make('hire', 'h', ended.work, impatient)
  impatient.leave('timeout')
  await left
  ended.end('hired')
  await wait(0)
  assert.is(calls.lost(), '\n\nhire was given up by its client and has ended: result {"handle":"call_2"}')
  assert.equal(await calls.result('call_2', false, here()), { text: 'hired', isError: false })
  assert.is(calls.lost(), '')
  // Another call is another call.
  const others = [job(), job()]
  const both = others.map(({ work }, at) => calls.make('judge', `${at}`, work, here()))
  for (const { begun } of others) assert.is(begun, 1)
  for (const { end } of others) end('done')
  await Promise.all(both)
})

test('a call that its client takes back is stopped, and so is one by its handle', async () => {
  const calls = new Calls(stop.signal)
  const one = job()
  const client = here()
  const made = calls.make('judge', 'k', one.work, client)
  client.leave('The user pressed Escape')
  await made
  assert.ok(one.stopped)
  assert.is(calls.lost(), '')
  const other = job()
  const handle = handleIn(await calls.make('judge', 'k', other.work, here(), 0))
  assert.equal(await calls.result(handle, true, here()), { text: 'stopped', isError: true })
})

test('sixteen calls are under way at most; one that has ended makes room', async () => {
  const calls = new Calls(stop.signal)
  const jobs = Array.from({ length: 16 }, job)
  for (const { work } of jobs) await calls.make('judge', 'k', work, here(), 0)
  const another = job()
  const refused = await calls.make('judge', 'k', another.work, here(), 0)
  assert.ok(refused.isError)
  assert.is(
    refused.text,
    '16 calls are under way, and no more are made meanwhile. To stop the oldest: result {"handle":"call_1","stop":true}',
  )
  assert.is(another.begun, 0)
  jobs[3]!.end('done')
  await wait(0)
  assert.match((await calls.make('judge', 'k', another.work, here(), 0)).text, 'goes on')
  stop.abort()
  await calls.ended()
  assert.equal(
    jobs.map(({ stopped }) => stopped),
    jobs.map((_, at) => at !== 3),
  )
})

test.run()
