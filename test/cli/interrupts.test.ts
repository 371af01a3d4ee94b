// engines: embedded; process: own
/** Ctrl-C on a terminal, in the midst of work: one line, the exit code of an interrupt, and nothing left behind. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { shows } from '../docs/guide.ts'
import { COMMAND, inFolder, startOnTerminal, typeOnTerminal } from './program.ts'

test(
  'demo ends with its agent, and leaves no folder',
  inFolder(async folder => {
    const demo = startOnTerminal(['demo'], folder, { TMPDIR: folder })
    await shows(demo, 'All five checks')
    assert.is(readdirSync(folder).filter(name => name.startsWith('marketplace-demo-')).length, 1)
    demo.interrupt()
    assert.is(await demo.ended, exitCodes.interrupted, demo.shown())
    assert.match(stripVTControlCharacters(demo.shown()), /\nInterrupted\.\r\n$/)
    assert.equal(
      readdirSync(folder).filter(name => name.startsWith('marketplace-demo-')),
      [],
    )
  }),
)

test(
  'a spinner tells how long it waits, and does not stay below the last words',
  inFolder(async folder => {
    writeFileSync(
      join(folder, 'silent.mjs'),
      "import http from 'node:http'\nhttp.createServer(() => {}).listen(process.env.PORT)\n",
    )
    // Without a width there is no spinner.
    const line = `stty cols 80; exec ${COMMAND} simulate buyers --start 'node silent.mjs'`
    const buyers = typeOnTerminal(line, folder)
    await shows(buyers, '0 of 70 tasks')
    // A long wait is told with its time.
    await shows(buyers, '0 of 70 tasks 5 s')
    buyers.interrupt()
    assert.is(await buyers.ended, exitCodes.interrupted, buyers.shown())
    assert.match(stripVTControlCharacters(buyers.shown()), /Interrupted\.\s*$/)
  }),
)

test(
  'a dev that is ended while it tests its own agent says nothing against that agent',
  inFolder(async folder => {
    const dev = startOnTerminal(['dev', '--port', '0', '--ephemeral'], folder)
    await shows(dev, 'Ctrl-C ends it')
    dev.interrupt()
    assert.is(await dev.ended, 0)
    assert.not.match(dev.shown(), /✖|closing its connections|is untested/)
  }),
)

test.run()
