// engines: embedded, postgres; process: shared
/**
 * The database refuses an entry between accounts between which its kind moves no money, and a transfer that is not like
 * others of its kind, whatever the code above it believes. Everything else is tried. Source.
 */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConstraintError, type Tx, type Value } from '../../../src/store/db.ts'
import { openTestMarketplace, type TestMarketplace } from '../../support/marketplace.ts'
import { sameNames } from '../../support/same-names.ts'

const rule = suite<{ marketplace: TestMarketplace }>('entries and transfers')
rule.before(async state => {
  state.marketplace = await openTestMarketplace()
})
rule.after(({ marketplace }) => marketplace.close())

const undone = new Error('undone')

/** What the table says to each of these rows: the names of those that it takes. */
async function taken({ market }: TestMarketplace, table: string, rows: ReadonlyMap<string, Record<string, Value>>) {
  const names: string[] = []
  for (const [name, row] of rows) {
    const end = await market.db.write(tx => tried(tx, table, row)).catch((error: unknown) => error)
    if (end === undone) names.push(name)
    else assert.is((end as ConstraintError).kind, 'check', `${name}: ${end}`)
  }
  return names
}

async function tried(tx: Tx, table: string, row: Record<string, Value>): Promise<never> {
  for (const kind of ['available', 'held', 'clearing'])
    for (const user of ['a', 'b'])
      await tx.run('INSERT INTO accounts (id, user_id, kind) VALUES ($1, $2, $3)', [`${kind}:${user}`, user, kind])
  const names = Object.keys(row)
  const places = names.map((_, i) => `$${i + 1}`)
  await tx.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`, Object.values(row))
  throw undone
}

/** Two wallets, and the accounts of the marketplace. */
const accounts = ['available', 'held', 'clearing']
  .flatMap(kind => [`${kind}:a`, `${kind}:b`])
  .concat('world', 'payouts', 'platform')

const kindsOfTransfers = ['deposit', 'withdrawal', 'hold', 'refund', 'release']

/** `X` and `Y` are wallets, of one or of two people; twice `X` is the same. */
const moves: Readonly<Record<string, readonly string[]>> = {
  deposit: ['world → available:X'],
  withdrawal: ['available:X → payouts'],
  paid_out: ['payouts → world'],
  given_back: ['payouts → available:X'],
  hold: ['available:X → held:X'],
  refund: ['held:X → available:X', 'clearing:X → available:Y'],
  release: ['held:X → clearing:Y', 'held:X → available:Y'],
  cleared: ['clearing:X → available:X'],
}

const people = (pattern: string) =>
  ['a', 'b'].flatMap(x => ['a', 'b'].map(y => pattern.replaceAll('X', x).replaceAll('Y', y)))

rule('an entry moves money where its kind does, and nowhere else', async ({ marketplace }) => {
  const every = new Map(
    Object.keys(moves).flatMap(kind =>
      accounts.flatMap(debited_id =>
        accounts.map(credited_id => {
          const row = { leg_id: 'leg', kind, debited_id, credited_id, amount: 1, created_at: 1 }
          return [`${kind}: ${debited_id} → ${credited_id}`, row] as const
        }),
      ),
    ),
  )
  const allowed = Object.entries(moves).flatMap(([kind, patterns]) =>
    patterns.flatMap(people).map(move => `${kind}: ${move}`),
  )
  sameNames(await taken(marketplace, 'entries', every), [...new Set(allowed)])
})

rule('an account of an entry exists', async ({ marketplace }) => {
  const row = { leg_id: 'leg', amount: 1, created_at: 1 }
  for (const accounts of [
    { kind: 'deposit', debited_id: 'world', credited_id: 'available:nobody' },
    { kind: 'withdrawal', debited_id: 'available:nobody', credited_id: 'payouts' },
  ]) {
    const end = await marketplace.market.db
      .write(tx => tried(tx, 'entries', { ...row, ...accounts }))
      .catch((error: unknown) => error)
    assert.instance(end, ConstraintError)
    assert.is((end as ConstraintError).kind, 'foreign_key')
  }
})

/** Payer, payee, the task; then the states. */
const transfers: Readonly<Record<string, readonly [parties: readonly string[], states: readonly string[]]>> = {
  deposit: [
    ['- a -', '- b -'],
    ['pending', 'completed', 'rejected'],
  ],
  withdrawal: [
    ['a - -', 'b - -'],
    ['pending', 'completed', 'rejected'],
  ],
  hold: [['a a t', 'b b t'], ['completed']],
  refund: [['- a t', '- b t'], ['completed']],
  release: [
    ['a a t', 'a b t', 'b a t', 'b b t'],
    ['clearing', 'completed', 'reversed'],
  ],
}

rule('a transfer is between those and in the states of its kind', async ({ marketplace }) => {
  const wallets = ['-', 'a', 'b']
  const states = ['pending', 'clearing', 'completed', 'rejected', 'reversed']
  const known = (name: string) => (name === '-' ? null : name)
  const every = new Map(
    kindsOfTransfers.flatMap(kind =>
      states.flatMap(status =>
        wallets.flatMap(payer =>
          wallets.flatMap(payee =>
            ['-', 't'].map(task => {
              const parties = { payer_id: known(payer), payee_id: known(payee), task_id: known(task) }
              const row = { id: 'trf', kind, ...parties, status, amount: 1, description: '', created_at: 1 }
              return [`${kind} ${status} ${payer} ${payee} ${task}`, row] as const
            }),
          ),
        ),
      ),
    ),
  )
  const allowed = Object.entries(transfers).flatMap(([kind, [parties, states]]) =>
    states.flatMap(status => parties.map(three => `${kind} ${status} ${three}`)),
  )
  sameNames(await taken(marketplace, 'transfers', every), allowed)
})

rule.run()
