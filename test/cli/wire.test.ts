// engines: embedded; process: shared
/** `exchanges` and `logs`: what went over the wire, asked from another terminal and after the fact. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/patience.ts'
import { devOf, hire } from './dev-lines.ts'
import { answerOf, inFolder, run, start } from './program.ts'

test(
  'tasks are called by the ends of their ids, people by their names; what is not there is told as that; nothing is said to be nothing',
  inFolder(async folder => {
    const dev = await devOf(folder, [])
    const following = start(['logs', '--follow'], folder)
    let followed = ''
    following.child.stdout!.on('data', chunk => (followed += chunk))
    const task = await hire(dev, dev.ready.agents[0]!.id)
    const tail = task.slice(-6)
    const told = (...words: string[]) => run(words, folder)
    const listed = async (...words: string[]) =>
      (await answerOf(['exchanges', 'list', ...words], folder)).data.items as {
        id: string
        direction: string
        taskId: string
        status: number
      }[]
    await until('both callbacks', async () => (await listed('--task', tail)).length === 3)
    const [last, , webhook] = await listed('--task', tail)
    assert.equal([last!.direction, webhook!.direction, last!.taskId], ['callback', 'webhook', task])

    const again = await told('exchanges', 'replay', last!.id)
    assert.equal([again.code, JSON.parse(again.out.replace(/^200 /, '')).data.task.id], [0, task])
    const sent = await told('exchanges', 'replay', webhook!.id)
    assert.match(sent.out, /^It goes out again as (dlv_\w+): marketplace deliveries show \1$/m)
    await until(
      'the webhook',
      async () => (await listed('--task', tail)).filter(({ direction }) => direction === 'webhook').length === 2,
    )
    for (const words of [
      ['exchanges', 'show', 'exchange_9999'],
      ['exchanges', 'replay', 'exchange_9999'],
    ]) {
      const { code, err } = await told(...words)
      assert.equal([code, err], [1, 'No such exchange.\n'])
    }

    // What was sent again is shown as what it is.
    await until(
      () => `the work, and its replay, in ${followed}`,
      () => followed.match(new RegExp(`…${tail}.*← deliver +200`, 'g'))?.length === 2,
    )
    assert.match(followed, '$ 5.00 buyer available → held')
    following.child.kill('SIGINT')
    assert.is((await following.ended).code, 0)
    assert.match((await told('logs', '--task', tail)).out, '← deliver')
    const other = `task_${'0'.repeat(32)}`
    const none = await told('logs', '--failed', '--task', other)
    assert.equal(
      [none.code, none.out, none.err],
      [0, '', `There are no lines with --failed --task ${other}. All: marketplace logs\n`],
    )
    await dev.stop()
  }),
)

test.run()
