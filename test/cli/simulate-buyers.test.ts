// engines: embedded; process: shared
/** `marketplace simulate buyers`: how many tasks come, what is refused, and how wide a refusal is. */
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { shellLine } from '../support/shell-line.ts'
import { answerHere, runHere } from './in-process.ts'
import { inFolder, run, startOnTerminal } from './program.ts'

const simulate = (...flags: string[]) =>
  answerHere('simulate', 'buyers', '--start', shellLine(process.execPath, 'examples/node-agent.mjs'), ...flags)

test('each buyer comes once a day, a part of a day counts as one task at least, and a seed tells the same stories', async () => {
  const { data } = await simulate('--buyers', '3', '--for', '2d', '--seed', '7', '--mix', 'easy,fickle', '--stories')
  assert.is(data.lives.length, 6)
  const again = await simulate('--buyers', '3', '--for', '2d', '--seed', '7', '--mix', 'easy,fickle', '--stories')
  const stories = (lives: readonly { story: string[]; end: string }[]) => lives.map(({ story, end }) => [story, end])
  assert.equal(stories(again.data.lives), stories(data.lives))
  assert.is((await simulate('--buyers', '2', '--for', '1h', '--stories')).data.lives.length, 2)
})

test('what makes no simulation is refused in a sentence', async () => {
  for (const [flags, words] of [
    [['--for', '0d'], '--for takes a time that is longer than none, 366d at most, not 0d.'],
    [['--for', '367d'], '--for takes a time that is longer than none, 366d at most, not 367d.'],
    [['--timeout', '0s'], '--timeout takes a time that is longer than none, not 0s.'],
    [
      ['--buyers', '1000', '--for', '30d'],
      '1000 buyers, each with a task a day, have 30,000 tasks in 30 d; at most 10,000 are simulated: give --tasks, or a shorter --for.',
    ],
  ] as const) {
    const { code, error } = await simulate(...flags)
    assert.is(code, 2)
    assert.is(error, words)
  }
})

test('the help says what a share counts', async () => {
  assert.match((await runHere('simulate', 'buyers', '--help')).out, /a\s+flooder\s+has\s+6\s+tasks\s+each\s+time/)
})

test(
  'a refusal that lists what there is fits the terminal, and is as it is in a pipe',
  inFolder(async folder => {
    const args = ['simulate', 'buyers', '--start', 'x', '--mix', 'nobody']
    const terminal = startOnTerminal(args, folder)
    assert.is(await terminal.ended, 2)
    const rows = stripVTControlCharacters(terminal.shown()).trimEnd().split('\r\n')
    assert.equal(
      rows.filter(row => row.length > 80),
      [],
    )
    const lines = (await run(args, folder)).err.trimEnd().split('\n')
    const joined = rows.map((row, at) => (/^(?: {2}\S|--)/.test(row) || at === 0 ? `\n${row}` : ` ${row.trim()}`))
    assert.equal(
      joined
        .join('')
        .trim()
        .split('\n')
        .slice(-lines.length + 1),
      lines.slice(1),
    )
    assert.match(rows.join(' '), '--mix takes all, or characters')
  }),
)

test.run()
