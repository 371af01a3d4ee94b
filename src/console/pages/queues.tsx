/** What waits for an administrator. Nothing of it goes on alone. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { PaymentRecord } from '../../api/money-records.ts'
import type { AdminAgentRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { type Loaded, useData } from '../data.ts'
import { useChanges } from '../live.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Parts } from '../parts/guard.tsx'
import { Head } from '../parts/head.tsx'
import { Card, Failed, Loading } from '../parts/say.tsx'
import { Mark } from '../parts/states.tsx'
import { toast, tried } from '../parts/toasts.tsx'
import { Age, Avatar, Money, Text, units } from '../parts/words.tsx'
import { href } from '../router.ts'

/** Of each, the first. */
const SHOWN = 20

export default function Queues() {
  return (
    <>
      <Head title="What waits for you" sub={<span>Nothing here goes on without you.</span>} />
      <Parts class="two broad">
        <Disputes />
        <Reviews />
        <Payments kind="deposit" />
        <Payments kind="withdrawal" />
        <Ledger />
      </Parts>
    </>
  )
}

interface QueueProps<Row> {
  id: string
  title: string
  list: Loaded<{ readonly pagination: { readonly total: number } }>
  rows: readonly Row[] | undefined
  line: (row: Row) => ComponentChildren
  keyOf: (row: Row) => string
}

function Queue<Row>({ id, title, list, rows, line, keyOf }: QueueProps<Row>) {
  const total = list.data?.pagination.total ?? 0
  return (
    <Card id={id} title={title} beside={total > 0 && <span class="tag wait">{total}</span>}>
      {list.error ? (
        <Failed what={`${title} could not be read.`} error={list.error} again={list.reload} />
      ) : !rows ? (
        <Loading lines={2} />
      ) : rows.length === 0 ? (
        <p class="in q">Nothing waits.</p>
      ) : (
        <ul class="lines">
          {rows.map(row => (
            <li key={keyOf(row)}>{line(row)}</li>
          ))}
        </ul>
      )}
    </Card>
  )
}

interface RowProps {
  of: { readonly id: string; readonly name: string }
  round?: boolean
  /** Its name unless given. */
  title?: ComponentChildren
  under: ComponentChildren
  children: ComponentChildren
}

const Row = ({ of: { id, name }, round = false, title, under, children }: RowProps) => (
  <>
    <Avatar id={id} name={name} round={round} />
    <span class="stack r0 grow">
      {title ?? (
        <b class="cut">
          <Text>{name}</Text>
        </b>
      )}
      <span class="q">{under}</span>
    </span>
    {children}
  </>
)

interface ActsProps {
  /** Of what it is about, for who hears it. */
  name: string
  word: string
  onReject: () => void
  onDo: () => void
}

const Acts = ({ name, word, onReject, onDo }: ActsProps) => (
  <>
    <button type="button" class="b s flat" onClick={onReject}>
      Reject…<span class="vh"> {name}</span>
    </button>
    {/* The second of a double click may come where the next one of the list stands by then. */}
    <button type="button" class="b s" onClick={({ detail }) => detail < 2 && onDo()}>
      {word}
      <span class="vh"> {name}</span>
    </button>
  </>
)

function Disputes() {
  const list = useData('disputes', signal => api.adminListTasks({ disputed: 'true', limit: SHOWN }, { signal }))
  useChanges(({ type }) => type === 'task', list.reload)
  return (
    <Queue
      id="disputes"
      title="Disputes"
      list={list}
      rows={list.data?.items}
      keyOf={({ id }) => id}
      line={({ id, title, buyer, agent, agreedPrice, dispute }) => (
        <Row
          of={buyer}
          round
          title={
            <a class="go cut" href={href(`/disputes/${id}`)}>
              <Text>{title}</Text>
            </a>
          }
          under={
            <>
              <Text>{buyer.name}</Text> against {agent.slug}, {dispute && <Age at={dispute.openedAt} />}
            </>
          }
        >
          <Money cents={agreedPrice} tone="held" />
        </Row>
      )}
    />
  )
}

function Reviews() {
  const [rejects, setRejects] = useState<AdminAgentRecord>()
  const list = useData('reviews', signal => api.adminListAgents({ status: 'pending_review', limit: SHOWN }, { signal }))
  useChanges(({ type }) => type === 'agent', list.reload)
  const approve = async ({ id, name }: AdminAgentRecord) => {
    if (await tried('Not approved', () => api.approveAgent({ id }))) toast({ tone: 'ok', word: 'Approved', text: name })
    list.reload()
  }
  return (
    <>
      <Queue
        id="reviews"
        title="Agents to review"
        list={list}
        rows={list.data?.items}
        keyOf={({ id }) => id}
        line={agent => (
          <Row
            of={agent}
            under={
              <>
                <details>
                  <summary>
                    <Text>{agent.tagline}</Text>
                  </summary>
                  <Text>{agent.description}</Text>
                </details>
                by <Text>{agent.builder.name}</Text>, <Age at={agent.updatedAt} />
                {agent.lastCheckPassedAt && (
                  <>
                    , tested <Age at={agent.lastCheckPassedAt} />
                  </>
                )}
              </>
            }
          >
            <Acts name={agent.name} word="Approve" onReject={() => setRejects(agent)} onDo={() => approve(agent)} />
          </Row>
        )}
      />
      {rejects && (
        <AskReason
          title={`Send ${rejects.name} back?`}
          act="Send it back"
          onAct={reason => api.rejectAgent({ id: rejects.id, reason }).then(list.reload)}
          onClose={() => setRejects(undefined)}
        />
      )}
    </>
  )
}

interface AskReasonProps {
  title: string
  act: string
  onAct: (reason: string) => Promise<unknown>
  onClose: () => void
}

/** The other one reads the reason. */
function AskReason({ title, act, onAct, onClose }: AskReasonProps) {
  const [reason, setReason] = useState('')
  return (
    <Dialog title={title} act={act} isBad onAct={() => onAct(reason)} onClose={onClose}>
      <div class="field">
        <label for="reason">Why</label>
        <textarea id="reason" rows={3} value={reason} onInput={event => setReason(event.currentTarget.value)} />
        <p class="help">It is read by whom it is about.</p>
      </div>
    </Dialog>
  )
}

const KINDS = {
  deposit: {
    title: 'Deposits to confirm',
    list: api.adminListDeposits,
    confirm: api.confirmDeposit,
    reject: api.rejectDeposit,
    done: 'Arrived',
    sign: '+',
  },
  withdrawal: {
    title: 'Withdrawals to pay',
    list: api.adminListWithdrawals,
    confirm: api.confirmWithdrawal,
    reject: api.rejectWithdrawal,
    done: 'Paid',
    sign: '−',
  },
} as const

function Payments({ kind }: { kind: keyof typeof KINDS }) {
  const { title, list: ask, confirm, reject, done, sign } = KINDS[kind]
  const [asks, setAsks] = useState<{ row: PaymentRecord; isReject: boolean }>()
  const list = useData(kind, signal => ask({ status: 'pending', limit: SHOWN }, { signal }))
  useChanges(({ type }) => type === 'wallet', list.reload)
  const { row, isReject } = asks ?? {}
  return (
    <>
      <Queue
        id={kind}
        title={title}
        list={list}
        rows={list.data?.items}
        keyOf={({ id }) => id}
        line={payment => (
          <Row of={{ id: payment.userId, name: payment.user.name }} round under={<Age at={payment.createdAt} />}>
            <Money cents={payment.amount} sign={sign} />
            <Acts
              name={`that of ${payment.user.name}`}
              word={`${done}…`}
              onReject={() => setAsks({ row: payment, isReject: true })}
              onDo={() => setAsks({ row: payment, isReject: false })}
            />
          </Row>
        )}
      />
      {row && isReject && (
        <AskReason
          title={`Reject ${units(row.amount)} of ${row.user.name}?`}
          act={`Reject ${units(row.amount)}`}
          onAct={reason => reject({ id: row.id, reason: reason || null }).then(list.reload)}
          onClose={() => setAsks(undefined)}
        />
      )}
      {row && !isReject && (
        <Dialog
          title={`${done}: ${units(row.amount)} of ${row.user.name}?`}
          act={`${done}, ${units(row.amount)}`}
          onAct={() => confirm({ id: row.id }).then(list.reload)}
          onClose={() => setAsks(undefined)}
        >
          <p class="qq">It can’t be undone.</p>
        </Dialog>
      )}
    </>
  )
}

function Ledger() {
  const { data, error, reload } = useData('ledger', signal => api.checkLedger({}, { signal }))
  return (
    <Card
      id="ledger"
      title="Ledger"
      tools={
        data && (
          <Mark tone={data.ok ? 'ok' : 'bad'} icon="scales">
            {data.ok ? 'adds up' : 'does not add up'}
          </Mark>
        )
      }
    >
      {error ? (
        <Failed what="The ledger could not be checked." error={error} again={reload} />
      ) : !data ? (
        <Loading />
      ) : (
        <div class="in stack r8">
          {data.problems.map(problem => (
            <p key={problem} class="ink bad">
              {problem}
            </p>
          ))}
          <dl class="dl">
            <dt>Accounts</dt>
            <dd class="n">{data.accounts.toLocaleString('en')}</dd>
            <dt>Entries</dt>
            <dd class="n">{data.entries.toLocaleString('en')}</dd>
            <dt>Held</dt>
            <dd>
              <Money cents={data.sums.held} tone="held" />
            </dd>
            <dt>Clearing</dt>
            <dd>
              <Money cents={data.sums.clearing} />
            </dd>
          </dl>
          <div>
            <button type="button" class="b s" onClick={reload}>
              Check again
            </button>
          </div>
        </div>
      )}
    </Card>
  )
}
