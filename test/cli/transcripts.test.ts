// engines: embedded; process: own
/** What commands print, word by word: of a buyer's, a builder's and an administrator's day, and of what is typed wrong. `npm run goldens` writes it anew. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isWriting } from '../support/golden.ts'
import { until } from '../support/patience.ts'
import { answerHere, enteredDev, runHere } from './in-process.ts'
import { commandsIn, lineOf, transcriptOf, typedAgain, typedAs } from './transcripts/transcript.ts'
import { wrongValues } from './transcripts/wrong-values.ts'

const FOLDER = resolve('test/cli/transcripts')

/** Beside what the dev keeps. */
const FILES = {
  'body.json': '{"event":"task.submitted","timestamp":"2026-01-01T00:00:00.000Z","data":{"taskId":"task_1"}}',
  'secret.txt': 'whsec_QmFzZTY0IG9mIGEgc2VjcmV0IG9mIGEgdGVzdC4uLg==',
  'other.txt': 'whsec_QW5vdGhlciBzZWNyZXQsIG9mIGFub3RoZXIgYWdlbnQuLi4=',
  'empty.txt': '',
}

// Whatever else runs on this machine.
process.env.MARKETPLACE_PORT = '0'

const webhooksSent = () =>
  until('no webhook is under way', async () => {
    const { data } = await answerHere('admin', 'queues', '--as', 'admin')
    return data.webhooks.count === 0
  })

const names = readdirSync(FOLDER).filter(file => file.endsWith('.txt'))
/** What they type changes what is there. The others share a dev. */
const DAYS = new Set(['builder.txt', 'buyer.txt', 'databases.txt', 'operator.txt', 'simulator.txt'])
const groups = [...[...DAYS].map(name => [name]), names.filter(name => !DAYS.has(name))]

for (const group of groups) {
  test(`${group.join(', ')}: what is typed prints what it has printed before`, async () => {
    const dev = await enteredDev(group.includes('operator.txt') ? { MARKETPLACE_PAYMENTS: 'manual' } : {})
    for (const [file, text] of Object.entries(FILES)) writeFileSync(file, text)
    await until('the test of the start', async () => (await runHere('test-connection', 'sample-agent')).code === 0)
    try {
      for (const name of group) await typeAll(name)
    } finally {
      await dev.leave()
    }
  })
}

async function typeAll(name: string): Promise<void> {
  const path = resolve(FOLDER, name)
  const before = commandsIn(readFileSync(path, 'utf8'))
  const typed = name === 'wrong-values.txt' ? (await wrongValues()).map(typedAs) : before
  const now = await typedAgain(typed, webhooksSent)
  if (isWriting) return writeFileSync(path, transcriptOf(now))
  assert.ok(now.length > 0)
  for (const command of now) assert.not.match(command, /\[object|\bundefined\b(?!-secret)|\bNaN\b/, command)
  assert.equal(typed.map(lineOf), before.map(lineOf), 'npm run goldens writes what was added')
  for (const [at, command] of now.entries()) assert.fixture(command, before[at]!)
}

test.run()
