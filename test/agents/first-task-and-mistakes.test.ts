// engines: embedded; process: own; lengths: short, long
/**
 * The agents of examples/, written with nothing of ours: each is hired and paid, and then gets wrong what authors get wrong most often. Of
 * each mistake the log of dev names the cause and what helps, in its lines for programs and in those for people, and `why`, `agents show`,
 * `simulate`, the connection test and the tools for coding agents say the same.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DiagnosisRecord, inWords } from '../../src/api/diagnosis/record.ts'
import { devOf, hire, type Line } from '../cli/dev-lines.ts'
import { connectIn, type McpClient } from '../cli/mcp-client.ts'
import { run, start } from '../cli/program.ts'
import { amount } from '../support/length.ts'
import { PATIENCE_MS, until } from '../support/patience.ts'
import { mistakes } from './mistakes.ts'
import { isThere, type Program, programs, RunningAgent } from './programs.ts'

/** Of each agent. The short form of them is test/agents/typical-mistakes.test.ts. */
const MOST_MISTAKES = amount({ short: 0, long: 100 })

const all = await programs()
const here = all.filter(isThere)
const folder = mkdtempSync(join(tmpdir(), 'marketplace-agents-'))
const urlOf = ({ port }: Program) => `http://localhost:${port}/webhook`

let dev: Awaited<ReturnType<typeof devOf>>
let people: ReturnType<typeof peoplesLog>
let coding: McpClient
const running = new Map<string, RunningAgent>()

const test = suite('agents')

test.before(async () => {
  dev = await devOf(
    folder,
    here.flatMap(program => ['--agent', `${program.name}=${urlOf(program)}`]),
  )
  people = peoplesLog()
  coding = await connectIn(folder)
})

test.after(async () => {
  for (const agent of running.values()) await agent.end()
  people.end()
  await coding.close()
  await dev.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A second dev in the folder shows the log of the first, as people see it. */
function peoplesLog() {
  const { child, ended } = start(['dev'], folder)
  const lines: string[] = []
  createInterface({ input: child.stdout! }).on('line', line => lines.push(line))
  return {
    seen: () => lines.length,
    async until(isIt: (line: string) => boolean, from: number): Promise<string> {
      for (const patience = AbortSignal.timeout(PATIENCE_MS); !patience.aborted; ) {
        const found = lines.slice(from).find(isIt)
        if (found) return found
        await new Promise(resolve => setTimeout(resolve, 20))
      }
      const { exitCode } = child
      const end = exitCode === null ? '' : `\nIt ended with ${exitCode}: ${(await ended).err}`
      throw new Error(`The log says:\n${lines.slice(from).join('\n')}${end}`)
    },
    async end() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

for (const program of here) {
  test(`the agent in ${program.file} is listed, paid after a revision, and refuses forged webhooks`, async () => {
    const { name } = program
    const { webhookSecret } = agentNamed(name)
    const secret = { MARKETPLACE_WEBHOOK_SECRET: webhookSecret }
    const another = { SECRET_OF_ANOTHER: agentNamed('sample-agent').webhookSecret }
    const agent = new RunningAgent(program, folder, { ...secret, ...another })
    running.set(name, agent)
    writeFileSync(join(folder, name, 'secret.txt'), `${webhookSecret}\n`)
    await agent.start()
    await dev.said(RegExp(`^${name} can be hired: `))
    const bought = await run(['simulate', 'buyer', name, '--revisions', '1'], folder)
    assert.is(bought.code, 0, bought.out + bought.err + agent.said)
    assert.match(bought.out, 'revision 1 of 1')
    assert.match(bought.out, 'is completed')
    const forged = await run(['emit', 'task.submitted', '--to', urlOf(program), '--forge', 'all'], folder, secret)
    assert.is(forged.code, 0, forged.out + forged.err)
  })

  for (const { does, changes, cause, help, isUntested } of (mistakes[program.name] ?? []).slice(0, MOST_MISTAKES)) {
    test(`the log says what is wrong if ${program.file} ${does}`, async () => {
      const agent = running.get(program.name)!
      await agent.end()
      const [fromJson, fromText] = [dev.seen(), people.seen()]
      const task = await hire(dev, idOf(program)).catch(() => hiredAgain(program, agent))
      // The webhook waits for the agent.
      await agent.start(changes)
      const says = (text: string) => cause.test(text) && help.test(text)
      const isAbout = (text: string) => text.includes(task) || text.includes(program.name)
      const isIt = (line: Line) => {
        const { diagnosis } = line as { diagnosis?: DiagnosisRecord }
        const texts = [...Object.values(line), `${line.message} ${line.hint}`, diagnosis ? inWords(diagnosis) : '']
        return isAbout(JSON.stringify(line)) && texts.some(text => says(String(text)))
      }
      await dev.until(`${cause} with ${help}`, isIt, fromJson)
      await people.until(says, fromText)
      const { name } = program
      for (const words of [
        ['why', task],
        ['agents', 'show', name],
        ['simulate', 'buyer', name, '--timeout', '1'],
        ...(isUntested ? [] : [['test-connection', name]]),
      ]) {
        let printed = ''
        // On a slow machine a buyer may have left before the agent calls back, and dev itself may be testing it.
        await until(
          () => `${cause} with ${help} from ${words.join(' ')}: ${printed}`,
          async () => {
            const { out, err } = await run(words, folder)
            printed = out + err
            return says(printed)
          },
        )
      }
      const { text } = await coding.said('why', { about: task })
      assert.ok(says(text), `mcp says: ${text}`)
    })
  }
}

/** The heartbeat may have met an agent with a mistake, and hidden it. It is listed once it is right. */
async function hiredAgain(program: Program, agent: RunningAgent): Promise<string> {
  const from = dev.seen()
  await agent.start()
  await dev.said(RegExp(`^${program.name} can be hired: `), from)
  await agent.end()
  return hire(dev, idOf(program))
}

const idOf = ({ name }: Program) => agentNamed(name).id
const agentNamed = (name: string) => dev.ready.agents.find(({ slug }) => slug === name)!

for (const { file, command } of all.filter(program => !here.includes(program))) {
  const words = `${file}: this machine has no ${command.split(' ')[0]}`
  // The runner prints it.
  test(`not tried: ${words}`, () => console.log(`\nnot tried: ${words}`))
}

test.run()
