// engines: embedded; process: own
/** What administrators and holders of a wallet do from the command line. Source. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { answerOf, run, startDev } from './program.ts'

let folder = ''
let dev: Awaited<ReturnType<typeof startDev>>

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'marketplace-cli-'))
  // By hand, so that there is something to settle.
  dev = await startDev(folder, { MARKETPLACE_PAYMENTS: 'manual' })
})

test.after(async () => {
  await dev.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('money that is handled by hand goes in and out as an administrator says', async () => {
  const buyer = (await answerOf(['wallet', 'show'], folder)).data.wallet
  assert.is(buyer.balance, 100_000, 'a dev has a buyer with money, whoever settles it')
  const asBuilder = ['--as', 'builder']
  const held = (await answerOf(['wallet', 'show', ...asBuilder], folder)).data.wallet.balance
  const one = (await answerOf(['wallet', 'deposit', '5000', ...asBuilder], folder)).data
  const two = (await answerOf(['wallet', 'deposit', '7000', ...asBuilder], folder)).data
  const waiting = await run(['admin', 'deposits', 'list', '--status', 'pending'], folder)
  assert.match(waiting.out, /^ID +TYPE +AMOUNT +STATUS +USER ID +CREATED AT$/m)
  assert.match(waiting.out, new RegExp(`^${one.id} +deposit +50\\.00 +pending`, 'm'))
  assert.match((await run(['admin', 'deposits', 'confirm', one.id, '--yes'], folder)).out, /^status +completed$/m)
  assert.is((await answerOf(['admin', 'deposits', 'reject', two.id, '--yes'], folder)).data.status, 'rejected')
  const again = await answerOf(['admin', 'deposits', 'confirm', two.id, '--yes'], folder)
  assert.is(again.code, 1)
  assert.is(again.status, 400)
  assert.is((await answerOf(['wallet', 'show', ...asBuilder], folder)).data.wallet.balance, held + 5000)

  await answerOf(['wallet', 'connect', ...asBuilder], folder)
  const { id } = dev.ready.accounts.builder
  await answerOf(['admin', 'users', 'update', id, '--connect-status', 'connected'], folder)
  const out = (await answerOf(['wallet', 'withdraw', '2000', ...asBuilder], folder)).data
  assert.is((await answerOf(['admin', 'withdrawals', 'reject', out.id, '--yes'], folder)).data.status, 'rejected')
  const last = (await answerOf(['wallet', 'withdraw', '2000', ...asBuilder], folder)).data
  assert.is((await answerOf(['admin', 'withdrawals', 'confirm', last.id, '--yes'], folder)).data.status, 'completed')
  assert.is((await answerOf(['wallet', 'show', ...asBuilder], folder)).data.wallet.balance, held + 3000)
  const books = await run(['admin', 'ledger'], folder)
  assert.is(books.code, 0)
  assert.match(books.out, /^ok +yes$/m)
})

test('accounts, categories and agents are listed page by page, changed, and what is wrong is refused in words', async () => {
  const page = await run(['admin', 'users', 'list', '--limit', '2'], folder)
  assert.is(page.out.trim().split('\n').length, 3)
  assert.match(page.err, 'Page 1 of 2, 3 in all. The next: --page 2')
  assert.is((await answerOf(['admin', 'users', 'list', '--limit', '2', '--page', '2'], folder)).data.items.length, 1)

  const { id } = dev.ready.accounts.buyer
  const changed = await answerOf(['admin', 'users', 'update', id, '--suspend', '--chargebacks', '2'], folder)
  assert.is(changed.data.suspended, true)
  assert.is(changed.data.chargebacks, 2)
  assert.match(
    (await run(['admin', 'users', 'update', id, '--unsuspend', '--chargebacks', '0'], folder)).out,
    /^suspended +no$/m,
  )
  for (const [args, words] of [
    [['admin', 'users', 'update', id, '--ban', '--unban'], 'contradicts'],
    [['admin', 'users', 'update', id], 'Say what is to change'],
  ] as const) {
    const refused = await run(args, folder)
    assert.is(refused.code, 2)
    assert.match(refused.err, words)
  }
  const many = await run(['admin', 'users', 'update', id, '--chargebacks', 'many'], folder)
  assert.is(many.code, 1)
  assert.match(many.err, 'chargebacks: ')

  const made = await answerOf(
    ['admin', 'categories', 'create', '--name', 'Music', '--description', 'Scores and sound.'],
    folder,
  )
  assert.is(made.data.slug, 'music')
  await answerOf(['admin', 'categories', 'update', made.data.id, '--name', 'Music and sound'], folder)
  assert.match((await run(['admin', 'categories', 'list'], folder)).out, 'Music and sound')
  assert.is((await answerOf(['admin', 'categories', 'delete', made.data.id, '--yes'], folder)).data.id, made.data.id)

  const listed = await answerOf(['admin', 'agents', 'list', '--status', 'verified'], folder)
  assert.is(listed.data.pagination.total, 3)
  assert.match(
    (await run(['admin', 'agents', 'list', '--status', 'draft'], folder)).err,
    'There are no agents with --status draft. All: marketplace admin agents list',
  )
  assert.match((await run(['admin', 'agents', 'show', dev.ready.agents[0].id], folder)).out, /^slug +sample-agent$/m)
  const early = await answerOf(['admin', 'agents', 'reject', dev.ready.agents[0].id, '--reason', 'A copy.'], folder)
  assert.is(early.status, 400)
  assert.is((await answerOf(['admin', 'agents', 'approve', dev.ready.agents[0].id], folder)).status, 400)
})

test('a disputed task is found and decided; without the session that takes it is refused with what to do', async () => {
  await run(['simulate', 'buyer', 'sample-agent', '--outcome', 'dispute'], folder)
  const [task] = (await answerOf(['admin', 'tasks', '--disputed'], folder)).data.items
  const split = ['admin', 'resolve', task.id, '--outcome', 'split', '--refund-amount', '2.00', '--yes']
  const byKey = await run([...split, '--key', dev.ready.accounts.admin.apiKey], folder)
  assert.is(byKey.code, 4)
  assert.match(byKey.err, 'admin resolve takes no key: it needs a signed-in session')
  const resolved = await run(split, folder)
  assert.is(resolved.code, 0, resolved.err)
  assert.match(resolved.out, /^dispute refund amount +2\.00$|^refund amount +2\.00$/m)
  assert.equal((await answerOf(['admin', 'tasks', '--disputed'], folder)).data.items, [])
})

test.run()
