// engines: embedded; process: shared
/** Buyers, builders and accounts by commands alone, against a dev in the folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { answerHere, enterDev, runHere } from './in-process.ts'
import { COMMAND, run, typeInto } from './program.ts'

const dev = enterDev(test)

const AGENT = {
  name: 'Hand Agent',
  tagline: 'Works by hand, without a webhook of its own',
  description: 'Made by a test that plays both the buyer and the builder by commands of the command line.',
  pricingModel: 'fixed',
  basePrice: 700,
  categoryIds: ['cat_translation'],
}

/** Runs a command that must succeed, and returns its data. */
async function done(...words: string[]) {
  const reply = await answerHere(...words)
  assert.is(reply.code, 0, `${words.join(' ')}: ${JSON.stringify(reply)}`)
  return reply.data
}

const draft = (title: string) =>
  done(
    ...['tasks', 'create', '--agent', 'silent-translator', '--title', title, '--price', '5.00'],
    ...['--description', 'Count the words, please.'],
  )

test('a task lives by commands: create, submit, accept, message, deliver, download, revise, approve, review', async () => {
  const { id, status, agreedPrice } = await draft('A letter')
  assert.is(status, 'draft')
  assert.is(agreedPrice, 500)
  assert.is((await done('tasks', 'update', id, '--title', 'A long letter')).title, 'A long letter')
  assert.is((await done('tasks', 'submit', id)).status, 'pending')
  const watched = run(['tasks', 'watch', id, '--until', 'delivered', '--json'], dev.folder)
  assert.is((await done('tasks', 'accept', id)).status, 'in_progress')
  assert.is((await done('tasks', 'message', id, 'Formal?', '--as', 'builder')).senderRole, 'agent')
  assert.match((await runHere('tasks', 'messages', id)).out, /agent +Formal\?$/m)
  writeFileSync('letter.txt', 'Guten Tag')
  writeFileSync('letter.pdf', '%PDF-1.4 made by hand')
  const delivered = await done('tasks', 'deliver', id, '--content', '@letter.txt', '--file', 'letter.pdf')
  assert.is(delivered.status, 'delivered')
  const lines = (await watched).out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.is(lines.at(-1).type, 'end')
  assert.is(lines.at(-1).data.task.status, 'delivered')
  assert.ok(lines.slice(0, -1).every(({ type }) => type === 'state'))

  assert.match((await runHere('tasks', 'show', id)).out, /^content +Guten Tag$/m)
  assert.match((await runHere('tasks', 'show', id)).out, /^files +letter\.pdf$/m)
  const again = await runHere('tasks', 'download', id)
  assert.is(again.code, 1, 'letter.pdf is there already')
  assert.match(again.err, '--clobber')
  mkdirSync('work')
  assert.equal((await done('tasks', 'download', id, '--dir', 'work')).files, [join('work', 'letter.pdf')])
  assert.is(readFileSync('work/letter.pdf', 'utf8'), '%PDF-1.4 made by hand')

  assert.is((await done('tasks', 'revise', id, '--reason', 'Shorter, please.')).revisionCount, 1)
  assert.is((await done('tasks', 'deliver', id, '--content', 'Tag')).status, 'delivered')
  assert.is((await done('tasks', 'deliverables', id)).items.length, 2)
  const blind = await answerHere('tasks', 'approve', id)
  assert.is(blind.code, 2)
  assert.match(blind.error, 'This pays the builder, and nobody can be asked here: add --yes')
  assert.is((await done('tasks', 'approve', id, '--yes')).status, 'completed')
  assert.is((await done('tasks', 'review', 'add', id, '--rating', '4')).rating, 4)
  assert.is((await done('tasks', 'review', 'show', id)).rating, 4)
  assert.match(
    (await runHere('tasks', 'list', '--status', 'completed')).out,
    new RegExp(`^${id} +completed +5\\.00`, 'm'),
  )
  const ended = await runHere('tasks', 'watch', id, '--until', 'pending')
  assert.is(ended.code, 1)
  assert.match(ended.err, 'does not become pending any more')
})

test('what ends for good is asked about on a terminal, and done on yes alone', async () => {
  const { id } = await draft('Another letter')
  await done('tasks', 'submit', id)
  const cancel = `${COMMAND} tasks cancel ${id}`
  assert.match(await typeInto(cancel, dev.folder, [['Go on? (y/N)', 'n\r']]), 'Nothing was changed')
  assert.is((await done('tasks', 'show', id)).status, 'pending')
  assert.match(await typeInto(cancel, dev.folder, [['This ends the task for good. Go on? (y/N)', 'y\r']]), 'cancelled')
  const other = await draft('A third letter')
  await done('tasks', 'submit', other.id)
  assert.is((await done('tasks', 'reject', other.id, '--reason', 'Only songs.', '--yes')).task.status, 'cancelled')
})

test('an agent is changed by its slug, shows samples, and is deleted', async () => {
  writeFileSync('agent.json', JSON.stringify(AGENT))
  await done('agents', 'create', '--file', 'agent.json')
  const changed = await done('agents', 'update', 'hand-agent', '--base-price', '7.50', '--category', 'Research', 'code')
  assert.is(changed.basePrice, 750)
  assert.equal(changed.categoryIds, ['cat_research', 'cat_code'])
  const url = await done('agents', 'update', 'hand-agent', '--webhook-url', 'https://agent.example/hook')
  assert.is(url.webhookUrl, 'https://agent.example/hook')
  assert.is((await done('agents', 'update', 'hand-agent', '--without-webhook')).webhookUrl, null)
  const sample = await done('agents', 'samples', 'add', 'hand-agent', '--title', 'A letter', '--output', 'Guten Tag')
  assert.match((await runHere('agents', 'samples', 'list', 'hand-agent', '--as', 'builder')).out, 'Guten Tag')
  await done('agents', 'samples', 'delete', 'hand-agent', sample.id, '--yes')
  await done('agents', 'delete', 'hand-agent', '--yes')
  assert.is((await answerHere('agents', 'show', 'hand-agent')).status, 404)

  assert.is((await done('agents', 'deactivate', 'silent-analyst')).status, 'inactive')
  const early = await answerHere('agents', 'reactivate', 'silent-analyst')
  assert.is(early.status, 400)
  for (const [words, message] of [
    [['agents', 'update', 'sample-agent'], 'Say what to change'],
    [
      ['agents', 'update', 'sample-agent', '--base-price', '5.0'],
      '--base-price takes an amount with two decimals, like 5.00, not 5.0.',
    ],
    [['agents', 'update', 'sample-agent', '--category', 'none'], 'There is no category none'],
    [['agents', 'update', 'sample-agent', '--file', 'strange.json'], 'webhook, which is not known here'],
  ] as const) {
    writeFileSync('strange.json', '{"webhook": "x"}')
    const refused = await answerHere(...words)
    assert.is(refused.code, 2)
    assert.match(refused.error, message)
  }
  assert.match((await runHere('agents', 'search', '--query', 'sample')).out, /^sample-agent +/m)
  assert.match((await runHere('agents', 'categories')).out, /^ID +SLUG +NAME/)
})

test('keys, budgets, notifications and the rest of an account have their commands', async () => {
  const made = await runHere('keys', 'create', '--name', 'laptop')
  assert.match(made.out, /^svc_\w+\n$/)
  assert.match(made.err, 'shown this once')
  const keys = (await done('keys', 'list')).items
  const laptop = keys.find(({ name }: { name: string }) => name === 'laptop')
  await done('keys', 'delete', laptop.id, '--yes')
  const gone = await runHere('keys', 'list', '--key', made.out.trim())
  assert.is(gone.code, 4)

  const limits = ['--max-per-task', '5.00', '--max-daily', '20.00', '--max-monthly', '100.00']
  const budget = await done('budgets', 'create', '--agent', 'sample-agent', ...limits, '--category', 'translation')
  assert.is(budget.maxMonthly, 10_000)
  assert.equal((await done('budgets', 'update', budget.id, '--any-category')).allowedCategories, null)
  assert.is((await done('budgets', 'pause', budget.id)).status, 'paused')
  assert.is((await done('budgets', 'resume', budget.id)).status, 'active')
  assert.match((await runHere('budgets', 'show', budget.id)).out, /^max per task +5\.00$/m)
  assert.is((await done('budgets', 'list')).items.length, 1)
  await done('budgets', 'delete', budget.id, '--yes')

  assert.match((await runHere('notifications', 'list', '--as', 'buyer')).err, 'There are no notifications.')
  assert.is((await done('wallet', 'limits')).canDeposit, true)
  assert.is((await done('wallet', 'earnings')).completedTasks, 1)
  const buyer = dev.ready.accounts.buyer.id
  assert.is((await done('buyers', 'show', buyer)).tasksCompleted, 1)
  assert.is((await done('buyers', 'history', buyer, '--agent', 'silent-translator')).items.length > 0, true)

  assert.is((await done('account', 'update', '--name', 'Ann Lee')).user.name, 'Ann Lee')
  assert.is((await done('account', 'sessions', 'list')).items.length, 1, 'the session of the command itself')
  assert.is((await done('account', 'totp', 'show')).enabled, false)
  const asked = await answerHere('account', 'totp', 'begin')
  assert.is(asked.code, 2)
  assert.match(asked.error, '--password-stdin')
})

test('commands work in folders below that of a dev, unless somebody else may have written its file', async () => {
  const { getuid } = process
  mkdirSync(join('src', 'deep'), { recursive: true })
  process.chdir(join('src', 'deep'))
  try {
    assert.is((await done('whoami')).user.email, dev.ready.accounts.builder.email)
    process.getuid = () => (getuid?.() ?? 0) + 1
    const foreign = await answerHere('whoami')
    assert.is(foreign.code, 2)
    assert.match(foreign.error, 'Which marketplace?')
  } finally {
    process.getuid = getuid!
    process.chdir(dev.folder)
  }
})

test('an account is made from the command line, and signs in', async () => {
  const words = ['register', '--email', 'new@example.com', '--name', 'New', '--builder', '--password-stdin', '--json']
  const made = await run(words, dev.folder, {}, 'correct horse battery\n')
  assert.is(made.code, 0, made.err)
  assert.is(JSON.parse(made.out).data.user.isBuilder, true)
  assert.is((await done('whoami')).user.email, 'new@example.com')
  const change = ['account', 'password', 'change', '--password-stdin', '--json']
  const changed = await run(change, dev.folder, {}, 'correct horse battery\nanother horse battery\n')
  assert.is(changed.code, 0, changed.out)
  const reject = await answerHere('tasks', 'reject', 'task_x', '--yes')
  assert.is(reject.code, 4)
  assert.match(reject.hint, 'marketplace keys create')
  await done('logout')
  assert.is((await done('whoami')).user.email, dev.ready.accounts.builder.email)
})

test.run()
