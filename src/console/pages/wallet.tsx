/** One's money: what is there, what is held and for what, and how each amount moved. */
import { useState } from 'preact/hooks'
import type { TransactionRecord } from '../../api/money-records.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Chips, given, ShareBar } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Head } from '../parts/head.tsx'
import { Listing } from '../parts/listing.tsx'
import { Card, Empty, Failed, Loading } from '../parts/say.tsx'
import { paymentStates, StateMark } from '../parts/states.tsx'
import { toast, tried } from '../parts/toasts.tsx'
import { centsIn, Money, Text, Time, units } from '../parts/words.tsx'
import { goQuery, href } from '../router.ts'

const TYPES = ['', 'deposit', 'hold', 'release', 'refund', 'earning', 'withdrawal'] as const
type Type = (typeof TYPES)[number]
const WORDS = {
  '': 'All',
  deposit: 'Put in',
  hold: 'Held in escrow',
  release: 'Paid',
  refund: 'Given back',
  earning: 'Earned',
  withdrawal: 'Taken out',
} as const satisfies Readonly<Record<Type, string>>

export default function Wallet({ query, me }: PageProps) {
  const [asks, setAsks] = useState<'deposit' | 'withdraw'>()
  const type = (query.get('type') ?? '') as Type
  const task = query.get('task') ?? ''
  const page = Number(query.get('page') ?? 1)
  const wallet = useData('wallet', signal => api.getWallet({}, { signal }))
  const earnings = useData('earnings', async signal => (me.isBuilder ? api.getEarnings({}, { signal }) : null))
  const list = useData(query.toString(), signal =>
    api.listTransactions({ ...given({ type, taskId: task }), page, limit: 20 }, { signal }),
  )
  const reload = () => {
    wallet.reload()
    list.reload()
  }
  useChanges(({ type }) => type === 'wallet', reload)
  const { balance = 0, heldBalance = 0, currency = '' } = wallet.data?.wallet ?? {}
  useActions([
    { title: 'Put money in', run: () => setAsks('deposit') },
    { title: 'Withdraw money', run: () => setAsks('withdraw') },
  ])
  return (
    <>
      <Head
        title="Wallet"
        sub={
          <>
            <bdi>{me.name}</bdi>
            <span>{currency.toUpperCase()}</span>
          </>
        }
        acts={
          <>
            {wallet.data?.connectStatus === 'connected' ? (
              <button type="button" class="b" onClick={() => setAsks('withdraw')}>
                Withdraw…
              </button>
            ) : (
              wallet.data?.connectStatus === 'not_connected' && (
                <button type="button" class="b" onClick={() => connect().then(wallet.reload)}>
                  Connect a payout account
                </button>
              )
            )}
            <button type="button" class="b main-b" onClick={() => setAsks('deposit')}>
              Put money in…
            </button>
          </>
        }
      />
      {wallet.error ? (
        <Failed what="The wallet could not be read." error={wallet.error} again={wallet.reload} />
      ) : (
        <Figures balance={balance} held={heldBalance} clearing={earnings.data ? earnings.data.clearing : null} />
      )}
      <div class={task ? 'cols wide' : 'stack'}>
        <Card
          id="transactions"
          title="Transactions"
          beside={
            <Chips
              label="Show"
              value={type}
              choices={TYPES.map(value => ({ value, word: WORDS[value] }))}
              onChoose={value => goQuery({ type: value, page: null })}
            />
          }
        >
          <Listing
            label="The transactions"
            list={list}
            rows={list.data?.items ?? []}
            keyOf={row => row.id}
            isFiltered={type !== '' || task !== ''}
            empty={nothing}
            columns={COLUMNS}
          />
        </Card>
        {task && <TaskLedger task={task} me={me.id} />}
      </div>
      {asks && <AskAmount verb={asks} most={balance} onClose={() => setAsks(undefined)} onDone={reload} />}
    </>
  )
}

async function connect(): Promise<void> {
  const answer = await tried('Not connected', () => api.connectPayouts())
  if (!answer) return
  const text = answer.connectStatus === 'connected' ? 'It is connected.' : 'The marketplace looks at it.'
  toast({ tone: 'ok', word: 'Payout account', text })
}

function Figures({ balance, held, clearing }: { balance: number; held: number; clearing: number | null }) {
  const shares = [
    { name: 'available', cents: balance },
    { name: 'held', cents: held },
    { name: 'clearing', cents: clearing ?? 0 },
  ] as const
  return (
    <div class="card figs">
      <div>
        <div class="fig">{units(balance)}</div>
        <span class="q">available</span>
      </div>
      <div>
        <div class={`fig ${held > 0 ? 'ink wait' : ''}`}>{units(held)}</div>
        <span class="q">held for tasks</span>
      </div>
      {clearing !== null && (
        <div>
          <div class="fig">{units(clearing)}</div>
          <span class="q">clearing</span>
        </div>
      )}
      <div class="span2">
        <ShareBar label={shares.map(({ name, cents }) => `${units(cents)} ${name}`).join(', ')} shares={shares} />
      </div>
    </div>
  )
}

const nothing = (
  <Empty title="Nothing has moved">
    <p>Money comes in when you put it in, or when a buyer approves what your agent has delivered.</p>
  </Empty>
)

const shown = (type: Exclude<Type, ''>) => {
  if (type === 'hold') return { sign: '−', tone: 'held' } as const
  if (type === 'withdrawal') return { sign: '−' } as const
  // A release takes from what was held before: nothing leaves what is available.
  return type === 'release' ? {} : ({ sign: '+', tone: 'in' } as const)
}

const COLUMNS = [
  { head: 'When', cell: (row: TransactionRecord) => <Time at={row.createdAt} /> },
  {
    head: 'What',
    class: 'wide-c',
    cell: (row: TransactionRecord) => (
      <>
        {row.taskId ? (
          <a class="go" href={href(`/wallet?task=${row.taskId}`)}>
            {WORDS[row.type]}
          </a>
        ) : (
          <span>{WORDS[row.type]}</span>
        )}
        <span class="under cut">
          <Text>{row.description}</Text>
          {row.status === 'pending' && row.type === 'deposit' && <> · waits for {WAITS.deposit}</>}
          {row.status === 'pending' && row.type === 'withdrawal' && <> · waits for {WAITS.withdraw}</>}
        </span>
      </>
    ),
  },
  {
    head: 'State',
    class: 'p2',
    cell: ({ type, status }: TransactionRecord) =>
      type === 'hold' && status === 'completed' ? null : <StateMark of={paymentStates[status]} />,
  },
  { head: 'Amount', class: 'n', cell: (row: TransactionRecord) => <Money cents={row.amount} {...shown(row.type)} /> },
]

interface AskProps {
  verb: 'deposit' | 'withdraw'
  most: number
  onClose: () => void
  onDone: () => void
}

/** What a payment waits for where no bank is asked. */
const WAITS = {
  deposit: 'an administrator to confirm that it has arrived',
  withdraw: 'an administrator to pay it out',
} as const

function AskAmount({ verb, most, onClose, onDone }: AskProps) {
  const [text, setText] = useState(verb === 'withdraw' ? units(most).replaceAll(',', '') : '100.00')
  const limits = useData('limits', signal => api.getDepositLimits({}, { signal }))
  const cents = centsIn(text)
  const amount = cents === null ? '' : ` ${units(cents)}`
  const act = async () => {
    if (cents === null) throw new Error('Write an amount like 12.00.')
    const { status } = await api[verb]({ amount: cents })
    toast(
      status === 'pending'
        ? { tone: 'wait', word: 'Asked for', text: `${units(cents)} waits for ${WAITS[verb]}.` }
        : { tone: 'ok', word: WORDS[verb === 'deposit' ? 'deposit' : 'withdrawal'], text: units(cents) },
    )
    onDone()
  }
  return (
    <Dialog
      title={verb === 'deposit' ? 'How much do you put in?' : 'How much do you take out?'}
      act={verb === 'deposit' ? `Put in${amount}` : `Take out${amount}`}
      onAct={act}
      onClose={onClose}
    >
      <div class="field money-in">
        <label for="amount">Amount</label>
        <input id="amount" inputMode="decimal" value={text} onInput={event => setText(event.currentTarget.value)} />
        <p class="help">
          {verb === 'withdraw'
            ? `${units(most)} can be taken out.`
            : limits.data &&
              `From ${units(limits.data.minDeposit)} to ${units(limits.data.maxDeposit)} at once; ${units(limits.data.dailyRemaining)} more today.`}
        </p>
      </div>
    </Dialog>
  )
}

/** The double entries of one task, as one's own transactions are made of them: each takes from one account what it gives to another. */
function TaskLedger({ task, me }: { task: string; me: string }) {
  const { data, error, reload } = useData(task, signal => api.listLedger({ taskId: task, limit: 100 }, { signal }))
  const entries = [...new Map(data?.items.flatMap(item => item.entries.map(entry => [entry.id, entry]))).values()]
  const whose = (account: string) => {
    const [kind, owner] = account.split(':')
    return owner === undefined ? kind : `${owner === me ? 'yours' : 'the other’s'}, ${kind}`
  }
  const sum = units(entries.reduce((all, { amount }) => all + amount, 0))
  return (
    <Card
      id="ledger"
      title="Ledger of one task"
      tools={
        <>
          <a class="link" href={href(`/tasks/${task}`)}>
            See the task
          </a>
          <a class="link" href={href('/wallet')}>
            Close
          </a>
        </>
      }
    >
      {error ? (
        <Failed what="The entries could not be read." error={error} again={reload} />
      ) : !data ? (
        <Loading />
      ) : (
        <div class="scroll">
          <table aria-label="Entries">
            <thead>
              <tr>
                <th>Transfer</th>
                <th>Account</th>
                <th class="n">Out</th>
                <th class="n">In</th>
              </tr>
            </thead>
            {entries
              .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
              .map(({ id, kind, from, to, amount, createdAt }) => (
                <tbody key={id}>
                  <tr>
                    <td rowSpan={2}>
                      <b>{kind.replace('_', ' ')}</b>
                      <span class="under">
                        <Time at={createdAt} ms />
                      </span>
                    </td>
                    <td>{whose(from)}</td>
                    <td class="n">{units(amount)}</td>
                    <td />
                  </tr>
                  <tr>
                    <td>{whose(to)}</td>
                    <td />
                    <td class="n">{units(amount)}</td>
                  </tr>
                </tbody>
              ))}
            <tbody>
              <tr>
                <td colSpan={2}>Sum</td>
                <td class="n">
                  <b>{sum}</b>
                </td>
                <td class="n">
                  <b>{sum}</b>
                </td>
              </tr>
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}
