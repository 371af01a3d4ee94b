// engines: embedded; process: own
/** How long the run stood still, and how long an agent was kept from going on, is measured, and waits leave it out. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { stopwatch } from '../../src/conform/history/machine-time.ts'
import { Recorder } from '../../src/conform/history/recorder.ts'
import { StallWatch } from '../../src/conform/history/stalls.ts'
import { until } from '../support/patience.ts'

const sumOf = (recorder: Recorder, whose: 'run' | 'agent') =>
  recorder.history.of('stall').reduce((sum, event) => sum + event[whose], 0)

test('a run that stands still knows it, and waits as much longer', async () => {
  const recorder = new Recorder()
  const watch = new StallWatch(recorder, () => undefined)
  const calm = recorder.calmStopwatch()
  const elapsed = stopwatch()
  while (elapsed() < 1_500);
  await until('the standstill is known', () => sumOf(recorder, 'run') > 1_000)
  assert.ok(calm() <= elapsed() - 1_000)
  assert.ok(6 * (calm() + 1) >= elapsed() - 6)
  await watch.close()
})

if (existsSync('/proc/self/schedstat'))
  test('an agent that is stopped is held up', async () => {
    const recorder = new Recorder()
    const child = spawn('sleep 600; true', { shell: true, detached: true, stdio: 'ignore' })
    const watch = new StallWatch(recorder, () => child.pid)
    try {
      await once(child, 'spawn')
      process.kill(-child.pid!, 'SIGSTOP')
      await until('it is known to be held up', () => sumOf(recorder, 'agent') >= 500)
    } finally {
      process.kill(-child.pid!, 'SIGKILL')
      await watch.close()
    }
  })

test('an agent is held up while any of its threads waits for a disk, and by no more than it waits', async () => {
  const proc = mkdtempSync(join(tmpdir(), 'proc-'))
  const thread = (pid: number, id: number, state: string) => {
    mkdirSync(join(proc, `${pid}/task/${id}`), { recursive: true })
    writeFileSync(join(proc, `${pid}/task/${id}/stat`), `${id} (a name) of) ${state} 1 2 3`)
    writeFileSync(join(proc, `${pid}/task/${id}/schedstat`), '1 0 1')
  }
  const recorder = new Recorder()
  thread(10, 10, 'S')
  writeFileSync(join(proc, '10/task/10/children'), '20 ')
  thread(20, 20, 'S')
  thread(20, 21, 'D')
  let watch = new StallWatch(recorder, () => 10, proc)
  try {
    await until('it is known to be held up', () => sumOf(recorder, 'agent') >= 500)
    await watch.close()
    thread(20, 21, 'S')
    const before = sumOf(recorder, 'agent')
    watch = new StallWatch(recorder, () => 10, proc)
    await pause(800)
    assert.is(sumOf(recorder, 'agent'), before)
  } finally {
    await watch.close()
    rmSync(proc, { recursive: true })
  }
})

test.run()
