// engines: embedded; process: shared; lengths: short, long
/** What people see on a terminal: colours where they are wanted, and the lines of dev. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { shows } from '../docs/guide.ts'
import { isLong } from '../support/length.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { COMMAND, inFolder, run, startOnTerminal, typeOnTerminal } from './program.ts'

const COLOUR = '\u001b['

const settings: [env: NodeJS.ProcessEnv, onTerminal: boolean, inPipe: boolean][] = [
  [{ NO_COLOR: undefined }, true, false],
  [{ NO_COLOR: undefined, FORCE_COLOR: '1', TERM: 'dumb' }, true, true],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, false, false],
]
if (isLong)
  settings.push(
    [{ NO_COLOR: '' }, true, false],
    [{ NO_COLOR: '1' }, false, false],
    [{ NO_COLOR: undefined, TERM: 'dumb' }, false, false],
    [{ NO_COLOR: undefined, FORCE_COLOR: '0' }, false, false],
  )

test(
  'colours are for terminals that want them: NO_COLOR goes first, then FORCE_COLOR, then what the terminal is',
  inFolder(async folder => {
    assert.is((await run(['db', 'migrate', 'a.db'], folder)).code, 0)
    for (const [env, onTerminal, inPipe] of settings) {
      const words = JSON.stringify(env, (_, value) => value ?? null)
      const terminal = startOnTerminal(['db', 'check', 'a.db'], folder, env)
      assert.is(await terminal.ended, 0, terminal.shown())
      assert.match(terminal.shown(), 'a.db is whole.')
      assert.is(terminal.shown().includes(COLOUR), onTerminal, `a terminal with ${words}: ${terminal.shown()}`)
      const { out } = await run(['db', 'check', 'a.db'], folder, { TERM: 'xterm', ...env })
      assert.is(out.includes(COLOUR), inPipe, `a pipe with ${words}: ${out}`)
    }
  }),
)

test(
  'dev shows on a terminal what happens, a line each, in the words of people; keys act on it, and leave the terminal as it was',
  inFolder(async folder => {
    const dev = typeOnTerminal(`${COMMAND} dev --port 0; echo "code $?"; stty -a`, folder, {
      NO_COLOR: undefined,
      // No real browser opens.
      ...{ BROWSER: 'true', DISPLAY: undefined, WAYLAND_DISPLAY: undefined },
    })
    const seen = async (words: RegExp, as = (text: string) => text) => {
      const patience = AbortSignal.timeout(PATIENCE_MS)
      while (!words.test(as(stripVTControlCharacters(dev.shown())))) {
        const over = await Promise.race([dev.ended, new Promise(resolve => setTimeout(resolve, 50, 'on'))])
        if (over !== 'on') throw new Error(`dev ended before ${words}: ${dev.shown()}`)
        if (patience.aborted) throw new Error(`dev does not show ${words}: ${dev.shown()}`)
      }
    }
    await seen(/Hire sample-agent: /)
    const bought = await run(['simulate', 'buyer', 'sample-agent'], folder)
    assert.is(bought.code, 0, bought.err)
    await run(['call', 'POST', '/api/nothing'], folder)
    await seen(/^\d\d:\d\d:\d\d +· POST \/api\/nothing +404 {2}\d+ ms/m)
    const keys: [pressed: string, seen: RegExp][] = [
      ['b', /› A simulated buyer hired sample-agent: …\w{6} is completed, paid and reviewed/],
      ['b/no such words\r', /› Only lines with “no such words” are shown from here on/],
      ['\x1b', /› All lines are shown again/],
      ['r', /› Resends task\.approved of …\w{6}:/],
      ['R', /› \d\d:\d\d:\d\d …\w{6} task\.\w+ delivered sample-agent .* Enter resends it/],
      ['j\r', /› Resends task\.\w+ .*› Resends task\.\w+ of …\w{6}:/],
      ['t', /› sample-agent passed its connection test/],
      ['d', / ← POST http:[^›]*"action":"accept"[^›]*› That was a callback/],
      // In the columns of the other lines: with how far the clock is ahead.
      ['c', /\d\d:\d\d:\d\d \+\d\w+ › Moved the clock to \S+: \w+/],
      ['o', /\d\d:\d\d:\d\d \+\d\w+ › (?:Opens the console|The console is) at http:\S+\/console the API's documents/],
      ['a', /buyer buyer@example\.com password [^›]*› These are its accounts/],
      ['?', /q or Ctrl-C: end in order/],
    ]
    for (const [pressed, words] of keys) {
      dev.press(pressed)
      await seen(words, text => text.replace(/\s+/g, ' '))
    }
    assert.match(stripVTControlCharacters(dev.shown()), /\d+ exchanges {2}\d+ failures? {2}0 waiting {2}.*\? help\r/)
    dev.press('q')
    await dev.ended
    assert.match(dev.shown(), /code 0\r\n[\s\S]* icanon[\s\S]* echo /)
    const text = stripVTControlCharacters(dev.shown())
    for (const line of [
      /^\d\d:\d\d:\d\d {2}…\w{6} {2}· POST \/api\/tasks\/…\w{6}\/submit +200 {2}\d+ ms/m,
      /^\S+ {2}…\w{6} {2}• submit: draft → pending/m,
      /^\S+ {2}…\w{6} {2}\$ 5\.00 buyer available → held/m,
      /^\S+ {2}…\w{6} {2}→ task\.submitted +200 {2}\d+ ms/m,
      /^\S+ {2}…\w{6} {2}← accept +200 {2}in progress/m,
      /^\S+ +✔ connection test passed/m,
      /^ +Nothing is at \/api\/nothing/m,
    ]) {
      assert.match(text, line)
    }
    // The colour of a mark, and of an outcome.
    assert.ok(dev.shown().includes('\u001b[33m$'), 'money is yellow')
    assert.ok(dev.shown().includes('\u001b[31m404'), 'refusals are red')
    assert.ok(dev.shown().includes('\u001b[32m200'), 'what went well is green')
  }),
)

test(
  'a dev that is ended from outside leaves the terminal as it was; a background job of the shell leaves it alone',
  inFolder(async folder => {
    const dev = `${COMMAND} dev --port 0`
    const waits = (file: string, what: string) => `until grep -q ${what} ${file}; do sleep 0.05; done`
    const job = `${dev} > /dev/null & ${waits('.marketplace/credentials.json', 'url')}; kill $!; wait $!; echo "job $?"`
    const terminal = typeOnTerminal(`${job}; ${dev}; echo "code $?"; stty -a`, folder)
    await shows(terminal, '? help')
    const { pid } = JSON.parse(readFileSync(join(folder, '.marketplace', 'dev.db.lock'), 'utf8'))
    process.kill(pid, 'SIGTERM')
    await terminal.ended
    assert.match(terminal.shown(), 'job 0')
    assert.match(terminal.shown(), /code 0\r\n[\s\S]* icanon[\s\S]* echo /)
  }),
)

test(
  'a deployment tells people on a terminal where it is, in a sentence',
  inFolder(async folder => {
    const serve = startOnTerminal(['serve', '--port', '0'], folder)
    while (!serve.shown().includes('Ctrl-C ends it.')) await new Promise(resolve => setTimeout(resolve, 50))
    serve.interrupt()
    assert.is(await serve.ended, 0)
    // In rows that end between words.
    const shown = stripVTControlCharacters(serve.shown()).replace(/\s+/g, ' ')
    assert.match(shown, /The marketplace answers at http:\/\/127\.0\.0\.1:\d+; its data is in marketplace\.db/)
    const refused = startOnTerminal(['serve', '--port', '70000'], folder)
    assert.is(await refused.ended, 2)
    assert.match(refused.shown(), '--port takes a number from 0 (any free one) to 65535, not 70000.')
  }),
)

test.run()
