// engines: embedded; process: shared
/** Ctrl-C on a terminal, in the midst of work: one line, the exit code of an interrupt, and nothing left behind. */
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { shows } from '../docs/guide.ts'
import { until } from '../support/patience.ts'
import { answerOf, COMMAND, inFolder, run, startDev, startOnTerminal, typeOnTerminal } from './program.ts'

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
    await shows(dev, 'At http://127.0.0.1:')
    dev.interrupt()
    assert.is(await dev.ended, 0)
    assert.not.match(dev.shown(), /✖|closing its connections|is untested/)
  }),
)

test(
  'a resend that follows an agent without an answer leaves what it has sent again in the queue, and says so',
  inFolder(async folder => {
    let answer: number | null = 410
    const agent = createServer((_, response) => {
      if (answer !== null) response.writeHead(answer).end()
    })
    await new Promise<void>(resolve => agent.listen(0, 'localhost', resolve))
    const { port } = agent.address() as AddressInfo
    const dev = await startDev(folder, {}, ['--forward-to', `http://localhost:${port}/hook`])
    const on = (...args: string[]) => run(args, folder)
    const failed = async () => (await answerOf(['deliveries', 'list', '--failed'], folder)).data.items
    // It takes the test of dev, and refuses the tasks.
    answer = 200
    await until('listed', async () => (await answerOf(['agents', 'show', 'my-agent'], folder)).data.visible)
    answer = 410
    const tasks: string[] = []
    for (const title of ['A letter', 'Another letter']) {
      const words = ['--title', title, '--description', 'Count the words, please.', '--price', '5.00']
      const { data } = await answerOf(['tasks', 'create', '--agent', 'my-agent', ...words], folder)
      assert.is((await on('tasks', 'submit', data.id)).code, 0)
      tasks.push(data.id)
    }
    await until('both webhooks are given up', async () => (await failed()).length === 2)
    answer = null

    // The newest is the first of the list, and the last that is sent again.
    const [{ id }] = await failed()
    for (const [args, says] of [
      [
        ['--failed'],
        / Interrupted\. 2 resent webhooks stay in the queue: (marketplace deliveries list --as builder) $/,
      ],
      [[id], / Interrupted\. dlv_\w+ stays in the queue: (marketplace deliveries show dlv_\w+ --as builder) $/],
    ] as const) {
      const resend = startOnTerminal(['deliveries', 'resend', ...args], folder)
      await shows(resend, `for ${tasks[1]}`)
      resend.interrupt()
      assert.is(await resend.ended, exitCodes.interrupted, resend.shown())
      const [, line] = says.exec(stripVTControlCharacters(resend.shown()).replaceAll(/\s+/g, ' ')) ?? []
      assert.ok(line, resend.shown())
      const shown = await on(...line!.split(' ').slice(1))
      assert.is(shown.code, 0, shown.err)
      assert.match(shown.out, 'pending')
    }
    await dev.stop()
    agent.closeAllConnections()
    agent.close()
  }),
)

test.run()
