// engines: embedded; process: own
/** Trials of agents in a process of their own: one that takes too long ends, and leaves nothing behind. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Trials } from './mutants/trials.ts'

const SOON_MS = 3_000

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
  const trials = new Trials(undefined, SOON_MS)
  try {
    const playing = trials.play({ command: silent(file), wanted: ['conn.endpoint-200'], seed: 1 })
    const failed = playing.then(
      () => assert.unreachable('nothing was answered'),
      ({ message }: Error) => message,
    )
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await setTimeout(20)
    const pid = Number(readFileSync(file, 'utf8'))
    assert.ok(isUp(pid))
    assert.is(await failed, 'The trial does not end')
    // The process that plays it goes on, as others may be played there.
    while (isUp(pid)) await setTimeout(20)
  } finally {
    trials.end()
    rmSync(folder, { recursive: true })
  }
})

test.run()
