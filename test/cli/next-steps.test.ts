// engines: embedded; process: own
/** Every command line that the program advises is typed here, and works. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { chapters } from '../../src/cli/command-table.ts'
import { nextSteps } from '../../src/cli/next-steps.ts'
import { code, sources } from '../architecture/sources.ts'
import { answerHere, runHere } from './in-process.ts'
import { run, startDev } from './program.ts'

let folder = ''
let dev: Awaited<ReturnType<typeof startDev>>
const before = process.cwd()

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-cli-'))
  dev = await startDev(folder)
  process.chdir(folder)
  process.env.XDG_CONFIG_HOME = join(folder, 'config')
})

test.after(async () => {
  process.chdir(before)
  await dev.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Types a line as a person would: fills in the secret, and says yes. A second dev would need the folder of the first. */
async function type(line: string) {
  const [program, ...words] = line.replace('whsec_…', dev.ready.agents[0].webhookSecret).split(/\s+/)
  assert.is(program, 'marketplace', line)
  if (words[0] === 'dev') words.push('--help')
  const help = (await runHere(...words.filter(word => !word.startsWith('-')).slice(0, 3), '--help')).out
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

test('each next step does what it says, or says what is missing', async () => {
  const id = await newDraft('draft-agent')
  const task = await newTask()
  const inWork = await newTask()
  await answerHere('tasks', 'accept', inWork)
  await runHere('simulate', 'buyer', 'sample-agent')
  const sent = (await answerHere('deliveries', 'list', 'sample-agent')).data.items[0].id as string
  const url = dev.ready.url as string
  const as = (person: string) => ` --as ${person}`
  // 2: asks for a password, which can't be asked for here. 3: a check failed, as there is no webhook. 1: refused for that reason.
  const typed: Record<keyof typeof nextSteps, readonly [line: string, exit: number]> = {
    startDev: [nextSteps.startDev(), 0],
    startEphemeral: [nextSteps.startEphemeral(), 0],
    signIn: [nextSteps.signIn(url, 'buyer@example.com'), 2],
    signOut: [nextSteps.signOut(url), 1],
    createKey: [nextSteps.createKey(url), 0],
    advanceClock: [nextSteps.advanceClock(), 0],
    call: [nextSteps.call(), 0],
    mend: [nextSteps.mend(), 0],
    forward: [nextSteps.forward(), 0],
    verify: [nextSteps.verify(), 0],
    sign: [nextSteps.sign(), 0],
    createAgent: [nextSteps.createAgent(), 2],
    listAgents: [nextSteps.listAgents(as('builder')), 0],
    saveWebhook: [nextSteps.saveWebhook('draft-agent', as('builder')), 0],
    rotateSecret: [nextSteps.rotateSecret('draft-agent', as('builder')), 0],
    testConnection: [nextSteps.testConnection('draft-agent', as('builder')), 3],
    publishAgent: [nextSteps.publishAgent('draft-agent', as('builder')), 1],
    approveAgent: [nextSteps.approveAgent(id, as('admin')), 1],
    emit: [nextSteps.emit(dev.ready.agents[0].webhookUrl), 5],
    deliveries: [nextSteps.deliveries('silent-analyst', as('builder')), 0],
    showDelivery: [nextSteps.showDelivery(sent), 0],
    resendDelivery: [nextSteps.resendDelivery(sent), 0],
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

/** Command lines in what a command has printed. */
const linesIn = (text: string) =>
  [...text.matchAll(/(?:^|[\s`])(marketplace (?:[\w-]+ )*[^\n`]*)/g)].map(([, line]) =>
    line!.replace(/ {2,}.*$/, '').replace(/\.(?: .*)?$/, ''),
  )

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
  ]
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
  /^src\/cli\/(?:start-screen|entry-lines|commands\/(?:dev|exec))\.ts/,
]

test('no file but next-steps writes a command line that whoever came otherwise than by npx has to type', () => {
  const groups = new Set(chapters.flatMap(([, records]) => records.map(({ name }) => name.split(' ')[0])))
  const faults = Object.entries(sources).flatMap(([path, text]) => {
    if (!path.startsWith('src/cli/') || writers.some(file => file.test(path))) return []
    const found = [...code(text).matchAll(/(?<!npx agent-)\bmarketplace ([a-z-]+)[^\n]*/g)]
    // The name under which a process holds a database.
    return found
      .filter(([line, word]) => groups.has(word!) && !/^marketplace (?:dev|serve|db \w+)(?: on |')/.test(line))
      .map(([line]) => `${path}: ${line}`)
  })
  assert.equal(faults, [])
})

test.run()
