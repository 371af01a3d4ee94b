// engines: embedded; process: own; lengths: long
/** Every command line that the program advises is typed here, and works. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { wholeTable } from '../../src/cli/command-table.ts'
import { nextSteps } from '../../src/cli/connection/next-steps.ts'
import { commandFinder } from '../../src/cli/log/command-of.ts'
import { entryLine } from '../../src/cli/log/entry-lines.ts'
import { Transport } from '../../src/client/transport.ts'
import { clientOn } from '../../src/client/typed-client.ts'
import type { StampedEntry } from '../../src/market/log.ts'
import { code, sources } from '../architecture/sources.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { answerHere, runHere } from './in-process.ts'
import { run, startDev } from './program.ts'

const { chapters } = await wholeTable()
let folder = ''
let dev: Awaited<ReturnType<typeof startDev>>
const before = process.cwd()
const DATABASE = join('.marketplace', 'dev.db')
/** An agent that believes everybody, and calls nobody back. */
const agent = createServer(async (request, response) => {
  events.push(JSON.parse(await text(request)).event)
  response.writeHead(answers).end()
})
const events: string[] = []
let answers = 200

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-cli-'))
  await new Promise<void>(resolve => agent.listen(0, 'localhost', resolve))
  const { port } = agent.address() as AddressInfo
  dev = await startDev(folder, {}, ['--forward-to', `http://localhost:${port}/hook`])
  process.chdir(folder)
  process.env.XDG_CONFIG_HOME = join(folder, 'config')
  while (!(await answerHere('agents', 'show', 'my-agent')).data.visible) await new Promise(go => setTimeout(go, 50))
})

test.after(async () => {
  process.chdir(before)
  await dev.stop()
  agent.closeAllConnections()
  agent.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Types a line as a person would: fills in the secret and the database, and says yes. A second dev would need the folder of the first. */
async function type(line: string) {
  const given = line.replace('whsec_…', dev.ready.agents[0].webhookSecret).replace(' FILE ', ` ${DATABASE} `)
  const [program, ...words] = given.match(/'[^']*'|\S+/g)!.map(word => word.replaceAll("'", ''))
  assert.is(program, 'marketplace', line)
  if (['dev', 'serve'].includes(words[0]!) && !['--print-env', '--show-keys'].includes(words[1]!)) words.push('--help')
  const help = (await runHere(...words.filter(word => !word.startsWith('-')).slice(0, 3), '--help')).out
  for (const flag of words.filter(word => word.startsWith('--')))
    assert.ok(help.split(/[\s,]/).includes(flag), `${line}: there is no ${flag}`)
  return runHere(...words, ...(help.includes('--yes ') ? ['--yes'] : []))
}

async function newDraft(slug: string) {
  const made = await answerHere(
    ...['agents', 'create', '--name', slug, '--tagline', 'Made to follow the next steps', '--base-price', '5.00'],
    ...['--description', 'It has no webhook, so whoever follows the advice finds out what is missing.'],
    ...['--category', 'translation'],
  )
  assert.is(made.code, 0, JSON.stringify(made))
  return made.data.id as string
}

const newTask = async () => {
  const title = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00']
  const { data } = await answerHere('tasks', 'create', '--agent', 'silent-analyst', ...title)
  await answerHere('tasks', 'submit', data.id)
  return data.id as string
}

/** Command lines in what a command has printed. */
const linesIn = (text: string) =>
  [...text.matchAll(/(?:^|[\s`])(marketplace (?:[\w-]+ )*[^\n`]*)/g)].map(([, line]) =>
    line!.replace(/ {2,}.*$/, '').replace(/\.(?: .*)?$/, ''),
  )

// Before the clock is moved: a heartbeat on the way hides the agents that never answer.
test('what commands print as the next step can be typed as it stands', async () => {
  await newDraft('other-draft')
  const disputed = await run(['simulate', 'buyer', 'sample-agent', '--outcome', 'dispute'], folder)
  const shown = [
    disputed.err,
    (await runHere('agents', 'publish', 'other-draft')).err,
    (await runHere('test-connection', 'other-draft')).err,
    (await runHere('agents', 'show', 'nobody')).err,
    (await runHere('simulate', 'buyer', 'other-draft')).err,
    (await runHere('simulate', 'buyer', 'silent-analyst', '--timeout', '1')).err,
    (await runHere('test-connection', 'silent-analyst')).err,
    (await runHere('tasks', 'show', 'nothing')).err,
  ]
  assert.match(
    shown[4]!,
    /^other-draft can't be hired: No webhook URL is saved\.\nSave one\.\nNext: marketplace agents update other-draft /,
  )
  assert.match(
    shown.at(-2)!,
    /Nobody is to answer there: dev has this agent to show what buyers see of one that is down/,
  )
  assert.match(shown.at(-1)!, /^No such task\.\nYours are shown by: marketplace tasks list/)
  const lines = [...new Set(shown.flatMap(linesIn))]
  assert.ok(lines.length >= 7, lines.join('\n'))
  for (const line of lines) {
    const { code, err } = await type(line)
    assert.ok([0, 1, 3].includes(code ?? -1), `${line}: ${code} ${err}`)
    assert.not.match(err, /unknown|needs a signed-in session|\b403\b/)
  }
  const settled = await answerHere('admin', 'tasks', '--disputed')
  assert.equal(settled.data.items, [], 'the dispute of simulate was decided by the line that it printed')
})

const as = (person: string) => ` --as ${person}`

test('each next step does what it says, or says what is missing', async () => {
  const id = await newDraft('draft-agent')
  const task = await newTask()
  const inWork = await newTask()
  await answerHere('tasks', 'accept', inWork)
  await runHere('simulate', 'buyer', 'sample-agent')
  const sent = (await answerHere('deliveries', 'list', 'sample-agent')).data.items[0].id as string
  const url = dev.ready.url as string
  // 2: asks for a password, which can't be asked for here. 3: a check failed, as there is no webhook. 1: refused for that reason. 5: there is no such agent.
  const typed: Record<keyof typeof nextSteps, readonly [line: string, exit: number]> = {
    startDev: [nextSteps.startDev(), 0],
    startForContainer: [nextSteps.startForContainer(url), 0],
    startEphemeral: [nextSteps.startEphemeral(), 0],
    showKeys: [nextSteps.showKeys(), 0],
    serve: [nextSteps.serve(), 0],
    secondFactor: [nextSteps.secondFactor(as('builder')), 2],
    confirmFactor: [nextSteps.confirmFactor(as('builder')), 1],
    printEnvironment: [nextSteps.printEnvironment(), 0],
    openapi: [nextSteps.openapi(), 0],
    judge: [nextSteps.judge('sig.valid'), 5],
    wholeList: [nextSteps.wholeList('tasks list', as('buyer')), 0],
    searchAgents: [nextSteps.searchAgents(as('buyer')), 0],
    // It asks for what stands in a letter.
    resetPassword: [nextSteps.resetPassword(), 2],
    helpOf: [nextSteps.helpOf('tasks create'), 0],
    signIn: [nextSteps.signIn(url, 'buyer@example.com'), 2],
    signOut: [nextSteps.signOut(url), 1],
    becomeBuilder: [nextSteps.becomeBuilder(as('builder')), 0],
    createKey: [nextSteps.createKey(as('builder')), 0],
    advanceClock: [nextSteps.advanceClock(), 0],
    call: [nextSteps.call(), 0],
    mend: [nextSteps.mend(), 0],
    examine: [nextSteps.examine(url), 0],
    forward: [nextSteps.forward(), 0],
    verify: [nextSteps.verify(), 0],
    sign: [nextSteps.sign(), 0],
    createAgent: [nextSteps.createAgent(as('builder')), 2],
    forwardAs: [nextSteps.forwardAs('draft-agent', 'http://localhost:3000/hook'), 0],
    simulateBuyer: [nextSteps.simulateBuyer('sample-agent', as('buyer')), 0],
    listAgents: [nextSteps.listAgents(as('builder')), 0],
    saveWebhook: [nextSteps.saveWebhook('draft-agent', as('builder')), 0],
    rotateSecret: [nextSteps.rotateSecret('draft-agent', as('builder')), 0],
    testConnection: [nextSteps.testConnection('draft-agent', as('builder')), 3],
    judgeListed: [nextSteps.judgeListed('sample-agent', as('builder')), 0],
    listFaults: [nextSteps.listFaults(), 0],
    deposit: [nextSteps.deposit(500, as('buyer')), 0],
    publishAgent: [nextSteps.publishAgent('draft-agent', as('builder')), 1],
    reactivateAgent: [nextSteps.reactivateAgent('draft-agent', as('builder')), 1],
    approveAgent: [nextSteps.approveAgent(id, as('admin')), 1],
    backup: [nextSteps.backup('again.db'), 0],
    emit: [nextSteps.emit(dev.ready.agents[0].webhookUrl), 5],
    deliveries: [nextSteps.deliveries('silent-analyst', as('builder')), 0],
    allDeliveries: [nextSteps.allDeliveries(as('builder')), 0],
    emitForged: [nextSteps.emitForged(dev.ready.agents[1].forwardTo), 3],
    showDelivery: [nextSteps.showDelivery(sent, as('builder')), 0],
    showExchange: [nextSteps.showExchange('exchange_1'), 0],
    exchanges: [nextSteps.exchanges(), 0],
    logs: [nextSteps.logs(), 0],
    why: [nextSteps.why('draft-agent'), 3],
    resendDelivery: [nextSteps.resendDelivery(sent, as('builder')), 0],
    listTasks: [nextSteps.listTasks(as('buyer')), 0],
    showTask: [nextSteps.showTask(task, as('buyer')), 0],
    cancelTask: [nextSteps.cancelTask(task, as('buyer')), 0],
    resolveTask: [nextSteps.resolveTask(inWork, as('admin')), 0],
  }
  for (const [name, [line, exit]] of Object.entries(typed)) {
    const { code, out, err } = await type(line)
    assert.is(code, exit, `${name}: ${line}: ${out}${err}`)
    if (exit === 2) assert.match(err, /can't ask here|needs --name/)
  }
})

test('dev warns once of an agent that verifies nothing, and of no other; the command that it names shows it', async () => {
  const transport = new Transport({ baseUrl: dev.ready.url, apiKey: dev.ready.accounts.admin.apiKey })
  const told: string[] = []
  for await (const entry of await clientOn(transport).watchEvents(
    { after: 0 },
    { signal: AbortSignal.timeout(PATIENCE_MS) },
  )) {
    if (entry.type === 'warning') told.push((entry as never as { message: string }).message)
    if (told.length > 0) break
  }
  assert.match(told[0]!, /^my-agent believes everybody: it took a webhook that was signed with a wrong secret\./)
  const { code, out } = await type(told[0]!.replace(/^.*See it: /, ''))
  assert.is(code, 3, out)
  assert.is(events.filter(event => event === 'task.cancelled').length, 1, events.join())
})

/** What the screen of the dev tells to type below each failure so far, by what failed. */
async function helpInLog(): Promise<Map<string, string>> {
  const transport = new Transport({ baseUrl: dev.ready.url, apiKey: dev.ready.accounts.admin.apiKey })
  const names = new Map<string, string>(dev.ready.agents.map(({ id, slug }: Record<string, string>) => [id, slug]))
  const commandOf = commandFinder({ chapters })
  const found = new Map<string, string>()
  for await (const told of await clientOn(transport).watchEvents({ after: 0, follow: 'false' })) {
    const entry = { ...told, at: Date.parse(told.at), realAt: Date.parse(told.realAt) } as unknown as StampedEntry
    const line = entryLine(entry, names, commandOf)
    if (!line?.isFailure || ('own' in entry && entry.own)) continue
    assert.ok(line.help, `nothing helps with ${JSON.stringify(entry)}`)
    const { outcome, via, status, route } = entry as never as Record<string, string | undefined>
    const kind = entry.type === 'webhook' ? [outcome] : entry.type === 'check' ? [] : [via ?? route, status]
    found.set([entry.type, ...kind].join(' '), line.help)
  }
  return found
}

test('below each kind of failure in the log of dev stands a command that can be typed', async () => {
  const { url, accounts, agents } = dev.ready
  const secret = agents[1].webhookSecret as string
  const client = clientOn(new Transport({ baseUrl: url }))
  const refused = (asked: Promise<unknown>) =>
    asked.then(
      () => assert.unreachable(),
      () => {},
    )
  const post = (path: string, headers = {}) =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })
  answers = 500
  const letter = ['--title', 'A letter', '--description', 'Count the words, please.', '--price', '5.00']
  const { id } = (await answerHere('tasks', 'create', '--agent', 'my-agent', ...letter)).data
  await answerHere('tasks', 'submit', id)
  await runHere('test-connection', 'my-agent')
  await client.agentCallback({ id, action: 'accept' }, { secret })
  await refused(client.agentCallback({ id, action: 'accept' }, { secret, timestampMs: Date.now() + 1 }))
  await refused(client.agentCallback({ id, action: 'accept' }, { secret: `${secret}x` }))
  await refused(client.testCallback({ id: 'test_none', action: 'accept' }, { secret }))
  await post('/api/nothing')
  await post('/api/tasks')
  await post('/api/tasks', { authorization: `Bearer ${accounts.buyer.apiKey}` })
  await runHere('clock', 'advance', '3d')
  const found = await helpInLog()
  assert.equal([...found.keys()].sort(), [
    'callback signature 400',
    'callback signature 401',
    'callback test 401',
    'check',
    'request  404',
    'request /api/tasks 400',
    'request /api/tasks 401',
    'webhook failed',
    'webhook retry',
  ])
  assert.is(found.get('request /api/tasks 400'), 'marketplace tasks create --help')
  for (const [kind, line] of found) {
    const { code, err } = await type(line)
    // The agent still answers 500, as the check says.
    assert.is(code, line.includes('test-connection') ? 3 : line.includes('emit') ? 1 : 0, `${kind}: ${line}: ${err}`)
  }
})

test('whoever has started the program by npx is told commands that begin with it', async () => {
  const byNpx = await run(['agents', 'show', 'nobody'], folder, { npm_command: 'exec' })
  assert.match(byNpx.err, 'Yours are shown by: npx agent-marketplace agents list')
  assert.match(
    (await run(['agents', 'lst'], folder, { npm_command: 'exec' })).err,
    'npx agent-marketplace agents --help',
  )
})

/** Files that may write a command line themselves: the records of the commands, and what is no advice. */
const writers: readonly RegExp[] = [
  /^src\/cli\/(?:table\/|next-steps\.ts|command-table\.ts|parser\.ts)/,
  /^src\/cli\/commands\/(?:dev|exec|conformance)\.ts/,
  // It names an agent that is not there.
  /^src\/cli\/conformance\/explain\.ts/,
]

test('no file but next-steps writes a command line that people have to type', () => {
  const groups = new Set(chapters.flatMap(([, records]) => records.map(({ name }) => name.split(' ')[0])))
  const faults = Object.entries(sources).flatMap(([path, text]) => {
    if (!path.startsWith('src/cli/') || writers.some(file => file.test(path))) return []
    const found = [...code(text).matchAll(/\bmarketplace ([a-z-]+)[^\n]*/g)]
    // The name under which a process holds a database.
    return found
      .filter(([line, word]) => groups.has(word!) && !/^marketplace (?:dev|serve|db \w+)(?: on |')/.test(line))
      .map(([line]) => `${path}: ${line}`)
  })
  assert.equal(faults, [])
})

test('a simulated buyer whose wallet holds too little deposits play money, in dev', async () => {
  const { code, out, err } = await runHere('simulate', 'buyer', 'sample-agent', '--price', '1234.00')
  assert.is(code, 0, err)
  assert.match(err, /^Deposited \d+\.\d\d for the buyer: in dev it is play money\.$/m)
  assert.match(out, /for 1234\.00, now held in escrow/)
})

test.run()
