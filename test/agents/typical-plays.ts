/**
 * What authors get wrong, each played by an agent that a switch makes wrong, all in one dev: of each mistake `simulate`, `why`,
 * `agents show`, the log, the connection test and the tools for coding agents name the same cause and the same cure, once; what they say is
 * to be typed can be typed, and all is well when the agent is mended. Of callbacks that are signed wrongly the judge names it too.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DiagnosisRecord, inWords } from '../../src/api/diagnosis/record.ts'
import type { TestReport } from '../../src/api/records.ts'
import { createClient } from '../../src/client/typed-client.ts'
import { freePort } from '../../src/sim/agents/free-port.ts'
import { devOf, type Line } from '../cli/dev-lines.ts'
import { connectIn, type McpClient } from '../cli/mcp-client.ts'
import { run } from '../cli/program.ts'
import { amount, isLong } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { saidTwice } from '../support/said-twice.ts'
import { isThere, type Program, RunningAgent } from './programs.ts'
import { howOf, type Mistake, mistakes } from './typical-mistakes.ts'

const played = mistakes.slice(0, amount({ short: 4, long: 100 }))
/** Where the agents are that are wrong in whatever way they are told. */
const WRONG = fileURLToPath(new URL('../../test/agents/wrong', import.meta.url))
const TOGETHER = 'all'
const nameOf = ({ cause }: Mistake) => cause.replaceAll('_', '-')

let test: ReturnType<typeof suite>
const folder = mkdtempSync(join(tmpdir(), 'marketplace-mistakes-'))
/** What each agent gets wrong now. */
const wrong = new Map<string, Mistake>()

let dev: Awaited<ReturnType<typeof devOf>>
let coding: McpClient
/** One is all of them, by their paths. Those that end are alone. */
const agents = new Map<string, RunningAgent>()
let program: Pick<Program, 'file' | 'command'>

/** The same in each language. */
export function playMistakes(inSuite: typeof test, one: typeof program): void {
  test = inSuite
  program = one
  if (isThere(program)) playAll()
  // The runner prints it.
  else test('not tried', () => console.log(`\nnot tried: this machine has nothing for ${program.command}`))
}

function playAll(): void {
  test.before(start)
  test.after(end)
  /** Each waits for its own, and most of the time for nothing that takes the machine. */
  let plays: Map<Mistake, Promise<void>> | undefined
  for (const one of played) {
    test(`${program.command}: an agent that ${one.does}: everybody names the same cause and the same cure`, () => {
      plays ??= new Map(played.map(each => [each, play(each)]))
      // Each test tells of its own.
      for (const each of plays.values()) each.catch(() => {})
      return plays.get(one)
    })
  }
}

async function start(): Promise<void> {
  const begun = async (name: string) => {
    const port = await freePort()
    agents.set(name, new RunningAgent({ ...program, name, port, home: WRONG }, folder, {}))
    return port
  }
  const together = await begun(TOGETHER)
  const addresses = played.map(async one => {
    const name = nameOf(one)
    return `${name}=http://127.0.0.1:${one.ends ? await begun(name) : together}/${name}/webhook`
  })
  const given = (await Promise.all(addresses)).flatMap(address => ['--agent', address])
  dev = await devOf(folder, given)
  tell()
  for (const agent of agents.values()) await agent.start()
  coding = await connectIn(folder)
}

async function end(): Promise<void> {
  await coding?.close()
  await dev?.stop()
  for (const agent of agents.values()) await agent.end()
  rmSync(folder, { recursive: true, force: true })
}

/** They read it at each webhook. */
function tell(): void {
  const other = secretOf('sample-agent')
  const rows = played.map(nameOf).map(name => [name, howOf(wrong.get(name), secretOf(name), other)])
  for (const name of agents.keys()) {
    const path = join(folder, name, 'mistakes.json')
    writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(rows)))
    renameSync(`${path}.new`, path)
  }
}

const named = (name: string) => dev.ready.agents.find(({ slug }) => slug === name)!
const secretOf = (name: string) => named(name).webhookSecret
const clientOf = (person: string) =>
  createClient({ baseUrl: dev.ready.url, apiKey: dev.ready.accounts[person]!.apiKey })

/** A json answer of a command, whatever its exit code. */
async function told(...words: string[]) {
  const { out, err } = await run([...words, '--json'], folder)
  try {
    return JSON.parse(out).data
  } catch {
    throw new Error(`${words.join(' ')}: ${out}${err}`)
  }
}

async function play(mistake: Mistake): Promise<void> {
  const name = nameOf(mistake)
  const { id } = named(name)
  const agent = () => clientOf('builder').getMyAgent({ id })
  await until(`that ${name} is listed`, async () => (await agent()).visible, 100)
  if (mistake.typed) assert.is((await run(mistake.typed.replace('{agent}', name).split(' '), folder)).code, 0)
  wrong.set(name, mistake)
  tell()
  if (mistake.ends) await agents.get(name)!.end()

  const found = mistake.isUnhired ? await inTest(mistake) : await atWork(mistake)
  const { certainty, cause, inTest: seen = cause } = mistake
  assert.equal([found.cause, found.certainty], [cause, certainty])
  const isSame = (other: DiagnosisRecord | null, who: string) =>
    assert.equal([other?.cause, other?.certainty, other?.fix], [cause, certainty, found.fix], who)
  const saysIt = (printed: string, who: string) => {
    assert.ok(printed.includes(found.fix), `${who} says: ${printed}`)
    assert.equal(saidTwice(printed, found.fix), [], `${who} says: ${printed}`)
  }
  isSame((await told('agents', 'show', name)).diagnosis, 'agents show')
  const why = await run(['why', name], folder)
  assert.is(why.code, 3, why.out)
  saysIt(why.out, 'why')
  assert.match(why.out, new RegExp(`^${name}: ${cause.replaceAll('_', ' ')} \\(${certainty}\\)`))
  assert.ok(why.out.trim().split('\n').length <= 5, why.out)
  saysIt((await asked(name)).text, 'mcp')
  const isIt = (line: Line) => {
    const { diagnosis } = line as { diagnosis?: DiagnosisRecord }
    const isOfTask = found.evidence.taskId !== null && diagnosis?.evidence.taskId === found.evidence.taskId
    return diagnosis?.cause === cause && (line.agentId === id || isOfTask)
  }
  isSame((await dev.until(`${cause} in the log`, isIt)).diagnosis as DiagnosisRecord, 'the log')
  if (mistake.isUnhired) saysIt((await run(['simulate', 'buyer', name], folder)).err, 'simulate')
  else if (seen !== null) assert.is((await inTest(mistake)).cause, seen)
  if (isLong && isSignedWrongly(mistake)) await judged(mistake, found)
  await cured(mistake, found)
}

/** Of its callbacks. */
const isSignedWrongly = ({ how = {} }: Mistake) =>
  ['headers', 'time', 'head', 'digest', 'isWrittenAnew'].some(part => part in how)

/** The judge plays a marketplace of its own to it, and names the cause in the same words. */
async function judged(mistake: Mistake, { text }: DiagnosisRecord): Promise<void> {
  const { code, out, err } = await run(
    ['conformance', '--start', program.command, '--only', 'cb.signature', '--json'],
    join(folder, TOGETHER),
    { MISTAKE: nameOf(mistake) },
  )
  assert.is(code, 3, out + err)
  const said = /does not verify: (.*) \(\d+ of \d+ callbacks\)$/.exec(JSON.parse(out).checks[0].text)?.[1]
  assert.ok(said && text.includes(said), `${out} does not say ${text}`)
}

/** A server for coding agents makes so many calls at once and no more. */
let last: Promise<unknown> = Promise.resolve()
function asked(name: string) {
  const answer = last.then(() => coding.said('why', { about: name }))
  last = answer.catch(() => {})
  return answer
}

/** A buyer hires it. Resolves to what is wrong with the task. */
async function atWork(mistake: Mistake): Promise<DiagnosisRecord> {
  const name = nameOf(mistake)
  // An agent that has ended is not waited for. Of the others it is known some moments after the hire.
  for (let seconds = mistake.ends ? 600 : mistake.cause === 'silent' ? 8 : 3; ; seconds *= 2) {
    const { code, out, err } = await run(['simulate', 'buyer', name, '--timeout', String(seconds)], folder)
    const [, task = ''] = /\b(task_[0-9a-f]{32})\b/.exec(out + err) ?? []
    const known = async () => (await told('why', task)).items[0]?.diagnosis
    let diagnosis = await known()
    // Its work is paid before its webhook is answered.
    const isIt = async () => {
      diagnosis = await known()
      return diagnosis?.cause === mistake.cause
    }
    if (code === 0 && diagnosis?.cause !== mistake.cause) await until(`${mistake.cause} of ${task}`, isIt, 100)
    const isTold = diagnosis?.cause === mistake.cause && (code === 0 || err.includes(diagnosis.fix))
    if (!isTold && seconds < 100) continue
    assert.is(diagnosis?.cause, mistake.cause, out + err)
    if (code === 0) return diagnosis
    assert.is(code, 1, out + err)
    assert.ok(err.includes(diagnosis.fix), err)
    assert.equal(saidTwice(err.replace(/^! .*$/gm, ''), diagnosis.fix), [], err)
    return diagnosis
  }
}

async function inTest(mistake: Mistake): Promise<DiagnosisRecord> {
  // Its verification is tried out within bounds of time, and once more in the next test if they were too narrow.
  let report!: TestReport
  const isIt = async () => {
    report = await tested(nameOf(mistake))
    return report.diagnosis && report.diagnosis.cause !== 'refused_by_agent'
  }
  if (mistake.cause === 'refused_by_agent') await isIt()
  else await until(() => `${mistake.cause} in a test: ${JSON.stringify(report)}`, isIt)
  assert.ok(report.diagnosis, JSON.stringify(report))
  return report.diagnosis
}

/** Dev itself may be testing it. */
async function tested(name: string): Promise<TestReport> {
  let report: TestReport | undefined
  await until(`a test of ${name}`, async () => (report = await told('test-connection', name)), 200)
  return report!
}

/** What is printed can be typed. Once the agent is mended the test passes, and what had not come is sent again. */
async function cured(mistake: Mistake, { commands, evidence, text }: DiagnosisRecord): Promise<void> {
  const name = nameOf(mistake)
  for (const command of commands.filter(
    words => !/^(?:dev --(?!print)|test-connection|deliveries resend)/.test(words),
  )) {
    const { code, err } = await run(command.split(' '), folder)
    assert.ok([0, 1, 3].includes(code ?? -1), `${command}: ${code} ${err}`)
    assert.not.match(err, /unknown|unexpected/i)
  }
  if (mistake.isUnhired) return
  wrong.delete(name)
  tell()
  await agents.get(name)?.start()
  const again = await tested(name)
  assert.equal([again.status, again.diagnosis], ['passed', null], inWords({ text, fix: '' }))
  const resend = commands.find(words => words.startsWith('deliveries resend'))
  if (!resend) return
  await run(resend.split(' '), folder)
  await until(
    'the work',
    async () => (await clientOf('buyer').getTask({ id: evidence.taskId! })).status === 'delivered',
    100,
  )
}
