// engines: embedded; process: own; lengths: long
/** Trials of agents in a process of their own: one that takes too long ends, and leaves nothing behind. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/patience.ts'
import { Trials } from './mutants/trials.ts'

/** Of a slow machine the agent is not up by then, and the next trial has longer. */
const FIRST_MS = 3_000

/** Says its number, listens, and answers nothing. */
const silent = (file: string) =>
  `node -e 'require("fs").writeFileSync("${file}", String(process.pid)); require("http").createServer(() => {}).listen(process.env.PORT)'`

function isUp(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a trial that does not end is ended, with its agent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trials-'))
  const file = join(folder, 'pid')
  const pidIn = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0)
  try {
    for (let ms = FIRST_MS; pidIn() === 0; ms *= 2) {
      const trials = new Trials(undefined, ms)
      const failed = await trials.play({ command: silent(file), wanted: ['conn.endpoint-200'], seed: 1 }).then(
        () => assert.unreachable('nothing was answered'),
        ({ message }: Error) => message,
      )
      assert.is(failed, 'The trial does not end')
      // The process that plays it goes on, as others may be played there.
      await until('the end of the agent', () => pidIn() === 0 || !isUp(pidIn()))
      trials.end()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.run()
