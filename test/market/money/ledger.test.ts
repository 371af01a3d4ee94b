// engines: embedded; process: shared
/** Money moves whole or not at all, between accounts that exist. Source: A-33. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Refusal } from '../../../src/api/failures.ts'
import { account, balances, type Leg, ledgerProblems, post, postLeg } from '../../../src/market/money/ledger.ts'
import { ConstraintError } from '../../../src/store/db.ts'
import { openBareMarket } from '../../support/bare-market.ts'

const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('it went through'),
    (error: Error) => error,
  )

async function open() {
  const bare = await openBareMarket()
  const { market } = bare
  const [ann, bob] = [await bare.join('ann'), await bare.join('bob')]
  const move = (kind: Leg['kind'], from: string, to: string, amount: number, id = 'leg') =>
    market.db.write(tx => postLeg({ ...market, tx }, { kind, from, to, amount, id }))
  return { ...bare, ann, bob, move }
}

test('what is no whole number of cents above zero is no amount', async () => {
  const { ann, move, close } = await open()
  for (const amount of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1])
    assert.is(
      (await failure(move('deposit', account.world, account.available(ann.id), amount))).message,
      `${amount} is no amount of money`,
    )
  await move('deposit', account.world, account.available(ann.id), 1)
  await close()
})

test('of two accounts the first by its name is written first, wherever the money goes, so that none waits for the other', async () => {
  const { market, move, ann, close } = await open()
  const [first, second] = [account.available(ann.id), account.held(ann.id)]
  await move('deposit', account.world, first, 100, 'in')
  for (const [kind, from, to] of [
    ['hold', first, second],
    ['refund', second, first],
  ] as const) {
    const written: unknown[] = []
    await market.db.write(tx => {
      const runAll: typeof tx.runAll = steps => {
        written.push(...steps.slice(0, 2).map(({ values }) => values[0]))
        return tx.runAll(steps)
      }
      const noting = { ...market, tx: Object.assign(Object.create(tx), { runAll, afterCommit: () => {} }) }
      return postLeg(noting, { id: `from ${from}`, kind, from, to, amount: 100 })
    })
    assert.equal(written, [first, second])
  }
  await close()
})

test('money comes from and goes to accounts that exist, whichever of the two is first by its name', async () => {
  const { market, ann, move, close } = await open()
  await move('deposit', account.world, account.available(ann.id), 500, 'first')
  await move('hold', account.available(ann.id), account.held(ann.id), 400, 'second')
  for (const nobody of ['clearing:a', 'clearing:zzz']) {
    assert.instance(await failure(move('release', account.held(ann.id), nobody, 5)), ConstraintError)
    assert.instance(await failure(move('refund', nobody, account.available(ann.id), 5)), ConstraintError)
  }
  const { available, held } = await market.db.read(q => balances(q, ann.id))
  assert.equal([available, held], [100, 400])
  await close()
})

test('a wallet that is short is told what it has, what still clears and what is needed; any other account is a fault of ours', async () => {
  const { ann, bob, move, close } = await open()
  const own = account.available(ann.id)
  await move('deposit', account.world, own, 1_801, 'in')
  await move('hold', own, account.held(ann.id), 567, 'held')
  await move('release', account.held(ann.id), account.clearing(ann.id), 567, 'released')
  const short = await failure(move('hold', own, account.held(ann.id), 1_235))
  assert.instance(short, Refusal)
  assert.is(short.message, 'The wallet holds 12.34 to spend and 5.67 that is still clearing; 12.35 is needed')
  for (const [kind, from] of [
    ['release', account.held(ann.id)],
    ['given_back', account.payouts],
  ] as const) {
    const fault = await failure(move(kind, from, account.available(bob.id), 1))
    assert.not.instance(fault, Refusal)
    assert.is(fault.message, `${from} does not hold 1`)
  }
  await move('hold', own, account.held(ann.id), 1_234, 'all of it')
  await close()
})

test('a transfer is told in the log once it is committed, and not if it is rolled back', async () => {
  const { market, logged, ann, close } = await open()
  const deposit = {
    kind: 'deposit',
    payerId: null,
    payeeId: ann.id,
    amount: 300,
    taskId: null,
    status: 'completed',
    description: 'Deposit',
    from: account.world,
    to: account.available(ann.id),
  } as const
  await failure(
    market.db.write(async tx => {
      await post({ ...market, tx }, deposit)
      throw new Error('no')
    }),
  )
  assert.equal(logged, [])
  const id = await market.db.write(tx => post({ ...market, tx }, deposit))
  assert.match(id, /^trf_/)
  const { from, to } = deposit
  assert.equal(logged, [{ type: 'money', kind: 'deposit', amount: 300, from, to, taskId: null }])
  assert.is(await market.db.write(tx => post({ ...market, tx }, { ...deposit, id: 'given' })), 'given')
  const { ok, problems, sums, ...size } = await market.db.read(ledgerProblems)
  assert.equal([ok, problems, size], [true, [], { accounts: 9, entries: 2 }])
  assert.equal([sums.available, sums.world], [600, -600])
  await close()
})

test('an account whose entries do not add up is named', async () => {
  const { market, ann, close } = await open()
  await market.db.write(tx => tx.run('UPDATE accounts SET balance = 5 WHERE id = $1', [account.held(ann.id)]))
  const { ok, problems } = await market.db.read(ledgerProblems)
  assert.is(ok, false)
  assert.ok(
    problems.some(problem => problem.includes(account.held(ann.id))),
    problems.join('\n'),
  )
  await close()
})

test('of many accounts that do not add up the first are named, and that there are more', async () => {
  const { market, join, close } = await open()
  for (let i = 0; i < 8; i++) await join(`of many ${i}`)
  await market.db.write(tx => tx.run('UPDATE accounts SET balance = 5 WHERE user_id IS NOT NULL'))
  const { problems } = await market.db.read(ledgerProblems)
  const ofEntries = problems.filter(problem => problem.startsWith('an account is not the sum of its entries: '))
  assert.is(ofEntries.length, 21)
  assert.match(ofEntries.at(-1)!, /: and there are more$/)
  await close()
})

test.run()
