// engines: embedded; process: own; lengths: long
/** docs/guides/testing.md: every block of code on it is run as it is printed. Only the agent's port is another. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { blocksOf } from './guide.ts'
import { withReader } from './reader.ts'

const PAGE = 'docs/guides/testing.md'
const blocks = blocksOf(PAGE)
const guide = readFileSync(PAGE, 'utf8')
const sectionsOf = (name: string) => blocks.filter(block => block.language === 'sh' && block.name === name)

test(
  'what the guide shows works as it is printed: emit, deliveries, exec, doctor',
  withReader(async (reader, folder) => {
    for (const { language, name, code } of blocks) if (language === 'js') writeFileSync(join(folder, name), code)
    const all = (name: string) => sectionsOf(name).map(({ code }) => code)
    const types = (name: string) => reader.types(all(name).join(''))
    await types('secret')
    const agent = reader.starts(all('agent').join(''))
    await agent.says('The agent listens')
    const [first, changed, kinds] = all('emit')
    const shown = blockShown('200 \\{')
    assert.ok((await reader.types(first!)).startsWith(shown))
    assert.match(await reader.types(changed!), /5 of 5 as they should be\.[\s\S]*\| curl -sS -i/)
    assert.not.match(await reader.types(kinds!), '✖')
    await agent.end()

    assert.is(await types('market'), '5000 cents in USD\n')
    assert.match(await types('exec'), /# pass 1\n[\s\S]*is completed[\s\S]*task\.approved/)

    const dev = reader.starts(all('dev').join(''))
    await dev.says('my-agent')
    await reader.types('until marketplace agents show my-agent --json | grep -q \'"visible":true\'; do sleep 0.2; done')
    const log = await types('log')
    assert.match(log, 'is completed')
    assert.match(log, /^cause|^status +delivered$/m)
    assert.match(log, /✔ dlv_\w+ was delivered\./)
    assert.match(await types('doctor'), /✔ callback +my-agent answers webhooks/)
    await dev.end()
    const personas = reader.starts(all('personas').join(''))
    await personas.says('easy hires my-agent')
    await personas.end()
    assert.match(await types('crowd'), /picky +\d+ +completed[\s\S]*Ledger: sound/)

    const used = ['market', 'secret', 'agent', 'emit', 'dev', 'log', 'personas', 'crowd', 'exec', 'doctor']
    for (const { language, name } of blocks) assert.ok(language !== 'sh' || used.includes(name), name)
  }),
)

/** A block without a language: what a command prints. */
function blockShown(beginning: string): string {
  const [, block] = new RegExp(`^\`\`\`\\n(${beginning}[\\s\\S]*?)^\`\`\`$`, 'm').exec(guide) ?? []
  assert.ok(block)
  return block!
}

test.run()
