// engines: embedded; process: own; lengths: short, long
/**
 * What authors get wrong, each played by an agent of its own that a switch makes wrong, all in one dev: of each mistake `simulate`, `why`,
 * `agents show`, the log, the connection test and the tools for coding agents name the same cause and the same cure, once; what they say is
 * to be typed can be typed, and all is well when the agent is mended.
 */
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DiagnosisRecord, inWords } from '../../src/api/diagnosis/record.ts'
import type { TestReport } from '../../src/api/records.ts'
import { createClient } from '../../src/client/typed-client.ts'
import { devOf, type Line } from '../cli/dev-lines.ts'
import { connectIn, type McpClient } from '../cli/mcp-client.ts'
import { run } from '../cli/program.ts'
import { amount } from '../support/length.ts'
import { until } from '../support/patience.ts'
import { saidTwice } from '../support/said-twice.ts'
import { type Mistake, mistakes, right, sender, works } from './typical-mistakes.ts'

const played = mistakes.slice(0, amount({ short: 4, long: 100 }))
const nameOf = ({ cause }: Mistake) => cause.replaceAll('_', '-')

const test = suite('typical mistakes')
const folder = mkdtempSync(join(tmpdir(), 'marketplace-mistakes-'))
/** What each agent gets wrong now. */
const wrong = new Map<string, Mistake>()

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray())
  const name = request.url!.split('/')[1]!
  const {
    key = (own: string) => own,
    bytes = (raw: Buffer) => raw,
    answer = right,
    work = works,
  } = wrong.get(name) ?? {}
  const secret = secretOf(name)
  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = request.headers
  const text = Buffer.concat([Buffer.from(`${timestamp}.`), bytes(body)])
  const isBelieved =
    createHmac('sha256', key(secret, secretOf('sample-agent')))
      .update(text)
      .digest('hex') === signature
  if (!isBelieved && answer === right) return void response.writeHead(401).end()
  const { event, data } = JSON.parse(body.toString())
  const send = sender(secret, data.callbackUrl, data.taskId)
  await answer({ request, response, send })
  if (response.writableEnded && response.statusCode === 200 && event === 'task.submitted') await work(send)
})

let dev: Awaited<ReturnType<typeof devOf>>
let coding: McpClient
/** The agents that end listen alone. */
const alone = new Map<string, ReturnType<typeof createServer>>()

test.before(async () => {
  const port = await listening(server)
  const addresses = played.map(async one => {
    if (!one.ends) return `${nameOf(one)}=http://127.0.0.1:${port}/${nameOf(one)}/webhook`
    const own = createServer((request, response) => void server.emit('request', request, response))
    alone.set(nameOf(one), own)
    return `${nameOf(one)}=http://127.0.0.1:${await listening(own)}/${nameOf(one)}/webhook`
  })
  dev = await devOf(
    folder,
    (await Promise.all(addresses)).flatMap(address => ['--agent', address]),
  )
  coding = await connectIn(folder)
})

test.after(async () => {
  await coding.close()
  await dev.stop()
  for (const one of [server, ...alone.values()]) {
    one.close()
    one.closeAllConnections()
  }
  rmSync(folder, { recursive: true, force: true })
})

async function listening(one: typeof server, port = 0): Promise<number> {
  await new Promise<void>(resolve => one.listen(port, '127.0.0.1', resolve))
  return (one.address() as AddressInfo).port
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

/** Each waits for its own, and most of the time for nothing that takes the machine. */
let plays: Map<Mistake, Promise<void>> | undefined

for (const one of played) {
  test(`an agent that ${one.does}: everybody names the same cause and the same cure`, () => {
    plays ??= new Map(played.map(each => [each, play(each)]))
    // Each test tells of its own.
    for (const each of plays.values()) each.catch(() => {})
    return plays.get(one)
  })
}

async function play(mistake: Mistake): Promise<void> {
  const name = nameOf(mistake)
  const { id } = named(name)
  const agent = () => clientOf('builder').getMyAgent({ id })
  await until(`that ${name} is listed`, async () => (await agent()).visible, 100)
  if (mistake.typed) assert.is((await run(mistake.typed.replace('{agent}', name).split(' '), folder)).code, 0)
  wrong.set(name, mistake)
  await ended(name)

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
  await cured(mistake, found)
}

/** A server for coding agents makes so many calls at once and no more. */
let last: Promise<unknown> = Promise.resolve()
function asked(name: string) {
  const answer = last.then(() => coding.said('why', { about: name }))
  last = answer.catch(() => {})
  return answer
}

async function ended(name: string): Promise<void> {
  const own = alone.get(name)
  if (!own) return
  const closed = new Promise(resolve => own.close(resolve))
  own.closeAllConnections()
  await closed
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
  const own = alone.get(name)
  if (own) await listening(own, Number(new URL(named(name).forwardTo!).port))
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

test.run()
