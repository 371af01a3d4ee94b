// engines: embedded; process: own; lengths: long
/**
 * docs/guides/agents.md and examples/README.md: every block of code on them is run as it is printed, against a real dev. Only the agent's
 * port is another.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { blocksOf } from './guide.ts'
import { type Reader, withReader } from './reader.ts'

const PAGE = 'docs/guides/agents.md'
const blocks = blocksOf(PAGE)
const files = blocks.filter(({ language }) => language !== 'sh')
const shells = (name: string) =>
  blocks.filter(block => block.language === 'sh' && block.name === name).map(({ code }) => code)
const codeOf = (name: string) => shells(name).join('')

/** What a reader tries with any agent. */
async function tries(reader: Reader): Promise<void> {
  const emit = codeOf('emit')
  assert.match(await reader.types(emit), /^200\b/m)
  const wrong = emit.replace('/webhook\n', '/webhook --secret whsec_wrong || true\n')
  assert.match(await reader.types(wrong), /^401\b/m)
  assert.is((await reader.types(codeOf('check'))).match(/✔/g)?.length, 5)
  const bought = await reader.types(codeOf('buy'))
  assert.match(bought, 'revision 1 of 1')
  assert.match(bought, 'is completed')
}

test('each block of the page is used here, and the agent in Python is the one of examples/', () => {
  const used = ['dev', 'agent', 'emit', 'check', 'buy', 'wire', 'time', 'why', 'wrong', 'hand', 'elsewhere']
  for (const { language, name } of blocks) assert.ok(language !== 'sh' || used.includes(name), name)
  assert.equal(
    files.map(({ name }) => name),
    ['agent.mjs', 'agent.py'],
  )
  assert.is(files[1]!.code, readFileSync('examples/python-agent.py', 'utf8'))
})

test(
  'the agents of the guide, in Node, in Python and by hand, pass the checks and earn money as they are printed',
  withReader(async (reader, folder) => {
    for (const { name, code } of files) writeFileSync(join(folder, name), code)
    const [running, forwarding] = shells('dev')
    const first = reader.starts(running!)
    await first.says('my-agent can be hired')
    await tries(reader)
    const moved = await reader.types(codeOf('time'))
    assert.match(moved, /^\+.* payment of task_\w+ clears$/m)
    assert.is(moved.match(/^Now .* ahead of real time\.$/gm)?.length, 2)
    await first.end()

    const second = reader.starts(forwarding!)
    await second.says('my-agent is tested as soon as it is up')
    const agent = reader.starts(codeOf('agent'))
    await agent.says('The agent listens')
    await second.says('my-agent can be hired')
    await tries(reader)
    const why = codeOf('why')
    assert.match(await reader.types(why), '✔ The signature is right')
    const environment = why.slice(0, why.indexOf('\n') + 1)
    const wrong = await reader.types(environment + codeOf('wrong').replace(/\n$/, ' || [ $? = 3 ]\n'))
    assert.ok(readFileSync(PAGE, 'utf8').includes(wrong))
    await agent.end()
    const byHand = await reader.types(codeOf('hand'))
    assert.match(byHand, '"content":"Half way."')
    assert.match(byHand, '"content":"Nearly there."')
    assert.match(byHand, '"status":"delivered"')
    assert.match(byHand, 'report.tgz')
    assert.match(await reader.types(codeOf('wire')), '"requestBody"')
    await reader.types(codeOf('elsewhere'))
    assert.match(readFileSync(join(folder, 'secret.txt'), 'utf8'), /^whsec_\S+\n$/)
  }),
)

test(
  'two commands of examples/README.md have an agent paid',
  withReader(async (reader, folder) => {
    copyFileSync('examples/python-agent.py', join(folder, 'python-agent.py'))
    const [dev, buy, ...others] = blocksOf('examples/README.md')
    // All checks are tried in test/conform/examples.test.ts.
    assert.equal(
      others.map(({ name }) => name),
      ['judge'],
    )
    await reader.starts(dev!.code).says('my-agent can be hired')
    assert.match(await reader.types(buy!.code), 'is completed')
  }),
)

test.run()
