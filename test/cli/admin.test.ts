// engines: embedded; process: shared
/** What administrators and holders of a wallet do from the command line. Source. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { answerHere, enterDev, runHere } from './in-process.ts'

// By hand, so that there is something to settle.
const dev = enterDev(test, { MARKETPLACE_PAYMENTS: 'manual' })

test('the keys that seal secrets are a list, each with what it has sealed and whether it can go', async () => {
  const { out } = await runHere('admin', 'key', 'show')
  assert.match(out, /^ID +SEALS +KNOWN +SEALED +CAN GO\n[0-9a-f]+ +yes +yes +\d+ +no\n$/)
  const rotated = await runHere('admin', 'key', 'rotate', '--yes')
  assert.match(rotated.out, /^done +yes\nresealed +\d+\n(?:\n)?ID +SEALS/)
})

test('money that is handled by hand goes in and out as an administrator says', async () => {
  const buyer = (await answerHere('wallet', 'show')).data.wallet
  assert.is(buyer.balance, 100_000, 'a dev has a buyer with money, whoever settles it')
  const asBuilder = ['--as', 'builder']
  const held = (await answerHere('wallet', 'show', ...asBuilder)).data.wallet.balance
  const one = (await answerHere('wallet', 'deposit', '50.00', ...asBuilder)).data
  const two = (await answerHere('wallet', 'deposit', '70.00', ...asBuilder)).data
  const waiting = await runHere('admin', 'deposits', 'list', '--status', 'pending')
  assert.match(waiting.out, /^ID +TYPE +AMOUNT +STATUS +USER NAME +USER EMAIL +CREATED AT$/m)
  assert.match(
    waiting.out,
    new RegExp(`^${one.id} +deposit +50\\.00 +pending .* ${dev.ready.accounts.builder.email} `, 'm'),
  )
  assert.match(
    (await runHere('admin', 'deposits', 'confirm', `…${one.id.slice(-8)}`, '--yes')).out,
    /^status +completed$/m,
  )
  assert.is((await answerHere('admin', 'deposits', 'reject', two.id, '--yes')).data.status, 'rejected')
  const again = await answerHere('admin', 'deposits', 'confirm', two.id, '--yes')
  assert.is(again.code, 1)
  assert.is(again.status, 400)
  assert.is((await answerHere('wallet', 'show', ...asBuilder)).data.wallet.balance, held + 5000)

  await answerHere('wallet', 'connect', ...asBuilder)
  const { id } = dev.ready.accounts.builder
  await answerHere('admin', 'users', 'update', id, '--connect-status', 'connected')
  const out = (await answerHere('wallet', 'withdraw', '20.00', ...asBuilder)).data
  assert.is((await answerHere('admin', 'withdrawals', 'reject', out.id, '--yes')).data.status, 'rejected')
  const last = (await answerHere('wallet', 'withdraw', '20.00', ...asBuilder)).data
  assert.is((await answerHere('admin', 'withdrawals', 'confirm', last.id, '--yes')).data.status, 'completed')
  assert.is((await answerHere('wallet', 'show', ...asBuilder)).data.wallet.balance, held + 3000)
  const books = await runHere('admin', 'ledger')
  assert.is(books.code, 0)
  assert.match(books.out, /^ok +yes$/m)
  const { sums } = (await answerHere('admin', 'ledger')).data
  assert.is(
    Object.values<number>(sums).reduce((sum, cents) => sum + cents),
    0,
  )
  assert.match(
    books.out,
    new RegExp(`^available +${(sums.available / 100).toLocaleString('en', { minimumFractionDigits: 2 })}$`, 'm'),
  )
})

test('accounts, categories and agents are listed page by page, changed, and what is wrong is refused in words', async () => {
  const all = await runHere('admin', 'agents', 'list')
  assert.match(all.out, /^ID +SLUG .* BUILDER NAME +BUILDER EMAIL /)
  assert.match(all.out, ` ${dev.ready.accounts.builder.email} `)
  const [agent] = (await answerHere('admin', 'agents', 'list')).data.items
  assert.is((await answerHere('admin', 'agents', 'show', agent.id)).data.builder.email, agent.builder.email)
  const page = await runHere('admin', 'users', 'list', '--limit', '2')
  assert.is(page.out.trim().split('\n').length, 3)
  assert.match(page.err, 'Page 1 of 2, 3 in all. The next: --page 2')
  assert.is((await answerHere('admin', 'users', 'list', '--limit', '2', '--page', '2')).data.items.length, 1)

  const { id, email } = dev.ready.accounts.buyer
  assert.is((await answerHere('admin', 'users', 'update', email, '--unsuspend')).data.id, id)
  assert.is((await answerHere('admin', 'users', 'update', id.slice(-12), '--unsuspend')).data.id, id)
  const nobody = await runHere('admin', 'users', 'update', 'nobody@market.example', '--unsuspend')
  assert.equal([nobody.code, nobody.err], [1, 'No account has the email nobody@market.example.\n'])
  const changed = await answerHere('admin', 'users', 'update', id, '--suspend', '--chargebacks', '2')
  assert.is(changed.data.suspended, true)
  assert.is(changed.data.chargebacks, 2)
  assert.match(
    (await runHere('admin', 'users', 'update', id, '--unsuspend', '--chargebacks', '0')).out,
    /^suspended +no$/m,
  )
  for (const [args, words] of [
    [['admin', 'users', 'update', id, '--ban', '--unban'], 'contradicts'],
    [['admin', 'users', 'update', id], 'Say what to change'],
  ] as const) {
    const refused = await runHere(...args)
    assert.is(refused.code, 2)
    assert.match(refused.err, words)
  }
  const many = await runHere('admin', 'users', 'update', id, '--chargebacks', 'many')
  assert.is(many.code, 1)
  assert.match(many.err, 'chargebacks: ')

  const made = await answerHere(
    'admin',
    'categories',
    'create',
    '--name',
    'Music',
    '--description',
    'Scores and sound.',
  )
  assert.is(made.data.slug, 'music')
  await answerHere('admin', 'categories', 'update', made.data.id, '--name', 'Music and sound')
  assert.match((await runHere('admin', 'categories', 'list')).out, 'Music and sound')
  assert.is((await answerHere('admin', 'categories', 'delete', made.data.id, '--yes')).data.id, made.data.id)

  const listed = await answerHere('admin', 'agents', 'list', '--status', 'verified')
  assert.is(listed.data.pagination.total, 3)
  assert.match(
    (await runHere('admin', 'agents', 'list', '--status', 'draft')).err,
    'There are no agents with --status draft. All: marketplace admin agents list',
  )
  assert.match((await runHere('admin', 'agents', 'show', dev.ready.agents[0].id)).out, /^slug +sample-agent$/m)
  const early = await answerHere('admin', 'agents', 'reject', dev.ready.agents[0].id, '--reason', 'A copy.')
  assert.is(early.status, 400)
  assert.is((await answerHere('admin', 'agents', 'approve', dev.ready.agents[0].id)).status, 400)
})

test('a disputed task is found and decided; without the session that takes it is refused with what to do', async () => {
  await runHere('simulate', 'buyer', 'sample-agent', '--outcome', 'dispute')
  const [task] = (await answerHere('admin', 'tasks', '--disputed')).data.items
  const split = ['admin', 'resolve', task.id, '--outcome', 'split', '--refund-amount', '2.00', '--yes']
  const byKey = await runHere(...split, '--key', dev.ready.accounts.admin.apiKey)
  assert.is(byKey.code, 4)
  assert.match(byKey.err, 'admin resolve takes no key: it needs a signed-in session')
  const resolved = await runHere(...split)
  assert.is(resolved.code, 0, resolved.err)
  assert.match(resolved.out, /^dispute refund amount +2\.00$|^refund amount +2\.00$/m)
  assert.equal((await answerHere('admin', 'tasks', '--disputed')).data.items, [])
})

test.run()
