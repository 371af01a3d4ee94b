/** A dispute is decided: both sides in their own words, what was asked and what came, what has happened, and what each decision does. */
import { useMemo, useState } from 'preact/hooks'
import type { DisputeOutcome } from '../../api/flow.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { ShareBar } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useDraft } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Failed, Id, Loading } from '../parts/say.tsx'
import { Mark, StateMark, taskStates } from '../parts/states.tsx'
import { toast } from '../parts/toasts.tsx'
import { Age, Avatar, centsIn, Money, Text, units } from '../parts/words.tsx'
import { href, place } from '../router.ts'
import type { Me } from '../session.ts'
import { useStore } from '../store.ts'
import { Asked } from '../task/aside.tsx'
import { Happening } from '../task/happening.tsx'
import { buyerOf, History, useHistory } from '../task/history.tsx'
import type { Task } from '../task/next.tsx'
import { type Row, rowsOf } from '../task/rows.ts'
import { Work } from '../task/work.tsx'

export default function Dispute({ params: { id = '' }, query, me }: PageProps) {
  const task = useData(id, signal => api.getTask({ id }, { signal }))
  const history = useHistory(id)
  const [writes, setWrites] = useState(false)
  const { data } = task
  const reload = () => {
    task.reload()
    history.reload()
  }
  useChanges(({ taskId }) => taskId === id, reload)
  const dispute = data?.dispute
  return (
    <>
      <Head
        title={data?.title ?? 'Dispute'}
        crumb={
          <>
            <a href={href('/queues')}>Disputes</a> <Icon name="chevron" /> <Id of={id} label="the task’s id" />
          </>
        }
        sub={
          dispute && (
            <>
              {dispute.status === 'open' ? (
                <Mark tone="bad" icon="flag" pill>
                  In dispute since&nbsp;
                  <Age at={dispute.openedAt} />
                </Mark>
              ) : (
                <Mark tone="mute" icon="flag" pill>
                  Decided: {dispute.outcome}
                </Mark>
              )}
              <span>
                from <StateMark of={taskStates[dispute.openedFrom]} />
              </span>
            </>
          )
        }
        acts={
          <>
            <button type="button" class="b" onClick={() => setWrites(true)}>
              <Icon name="talk" />
              Write to both…
            </button>
            <a class="b" href={href(`/tasks/${id}`)}>
              <Icon name="list" />
              The task
            </a>
          </>
        }
      />
      {task.error ? (
        <Failed what="The task could not be read." error={task.error} again={task.reload} />
      ) : !data ? (
        <Loading lines={6} />
      ) : !dispute ? (
        <p>This task is not in dispute.</p>
      ) : (
        <Open task={data} dispute={dispute} history={history} query={query} me={me} onDone={reload} />
      )}
      {writes && <WriteToBoth id={id} onClose={() => setWrites(false)} />}
    </>
  )
}

interface OpenProps {
  task: Task
  dispute: NonNullable<Task['dispute']>
  history: ReturnType<typeof useHistory>
  query: URLSearchParams
  me: Me
  onDone: () => void
}

function Open({ task, dispute, history, query, me, onDone }: OpenProps) {
  const rows = useMemo(() => rowsOf(history.data ?? []), [history.data])
  const { hash } = useStore(place)
  const chosen = rows.find(row => hash === `#e-${row.id}`)
  return (
    <div class="cols wide">
      <div class="stack">
        <Sides task={task} rows={rows} />
        <div class="two">
          <Asked task={task} />
          {task.deliverable ? (
            <Work task={task} version={history.isWhole ? String(rows.length) : ''} />
          ) : (
            <p class="q">Nothing was delivered.</p>
          )}
        </div>
        {history.error !== undefined && (
          <Failed what="What has happened could not be read." error={history.error} again={history.reload} />
        )}
        {history.data ? (
          <History rows={rows} isWhole={history.isWhole} task={task} query={query} chosen={chosen} />
        ) : (
          <Loading lines={12} />
        )}
      </div>
      {chosen ? (
        <Happening key={chosen.id} row={chosen} rows={rows} task={task} me={me} onDone={onDone} />
      ) : dispute.status === 'open' ? (
        <Decide task={task} onDecided={onDone} />
      ) : (
        <Decided dispute={dispute} />
      )}
    </div>
  )
}

function WriteToBoth({ id, onClose }: { id: string; onClose: () => void }) {
  const { fields, typed, forget } = useDraft(`write:${id}`, { content: '' })
  const write = async () => {
    await api.adminSendMessage({ id, ...fields })
    forget()
    toast({ tone: 'ok', word: 'Sent', text: 'Both read it.' })
  }
  return (
    <Dialog title="What do you write to both?" act="Send" onAct={write} onClose={onClose}>
      <div class="field">
        <label for="content">Message</label>
        <textarea id="content" name="content" rows={4} value={fields.content} onInput={typed} />
      </div>
    </Dialog>
  )
}

function Sides({ task, rows }: { task: Task; rows: readonly Row[] }) {
  const { id, dispute, agent } = task
  const buyer = buyerOf(rows) || 'The buyer'
  const messages = useData(id, signal => api.listMessages({ id, limit: 100 }, { signal }))
  const answers = messages.data?.items.filter(({ senderRole }) => senderRole === 'agent') ?? []
  const words = messages.data?.items.filter(({ senderRole }) => senderRole === 'buyer') ?? []
  return (
    <section class="card sides" aria-label="Both sides">
      <section aria-labelledby="buyer">
        <div class="row">
          <Avatar id={task.buyerId} name={buyer} round />
          <h2 id="buyer">
            <Text>{buyer}</Text> <span class="q">buyer</span>
          </h2>
        </div>
        <p class="quote">
          <Text>{dispute!.reason}</Text>
        </p>
        {words.map(said)}
      </section>
      <section aria-labelledby="builder">
        <div class="row">
          <Avatar id={agent.id} name={agent.name} />
          <h2 id="builder">
            <Text>{agent.name}</Text> <span class="q">agent</span>
          </h2>
        </div>
        {answers.length === 0 && <p class="q">It has written nothing.</p>}
        {answers.map(said)}
      </section>
      {messages.error !== undefined && (
        <Failed what="The messages could not be read." error={messages.error} again={messages.reload} />
      )}
    </section>
  )
}

const said = ({ id, content }: { id: string; content: string }) => (
  <p key={id} class="quote">
    <Text>{content}</Text>
  </p>
)

const Decided = ({ dispute }: { dispute: NonNullable<Task['dispute']> }) => (
  <Card id="decided" title="Decided">
    <dl class="dl in">
      <dt>Outcome</dt>
      <dd>{dispute.outcome}</dd>
      <dt>Back to the buyer</dt>
      <dd>
        <Money cents={dispute.refundAmount ?? 0} />
      </dd>
      {dispute.outcomeReason && (
        <>
          <dt>Why</dt>
          <dd>
            <Text>{dispute.outcomeReason}</Text>
          </dd>
        </>
      )}
      {dispute.resolvedAt && (
        <>
          <dt>When</dt>
          <dd>
            <Age at={dispute.resolvedAt} />
          </dd>
        </>
      )}
    </dl>
  </Card>
)

const OUTCOMES = {
  refund: ['All back to the buyer', 'The task ends as cancelled.'],
  release: ['All to the builder', 'The task ends as completed. It counts as a dispute that the buyer lost.'],
  split: ['Split', 'The task ends as completed.'],
} as const

function Decide({ task: { id, agreedPrice }, onDecided }: { task: Task; onDecided: () => void }) {
  const { fields, typed, change, forget } = useDraft(`decide:${id}`, {
    outcome: 'split',
    back: units(Math.floor(agreedPrice / 2)).replaceAll(',', ''),
    reason: '',
  })
  const [asks, setAsks] = useState(false)
  const outcome = fields.outcome as DisputeOutcome
  const split = Math.min(agreedPrice, centsIn(fields.back) ?? 0)
  const back = outcome === 'refund' ? agreedPrice : outcome === 'release' ? 0 : split
  const parts = [
    { name: 'available', cents: back },
    { name: 'paid', cents: agreedPrice - back },
  ] as const
  const act = outcome === 'split' ? `Split ${units(back)} and ${units(agreedPrice - back)}` : OUTCOMES[outcome][0]
  const decide = async () => {
    const split = outcome === 'split' ? { refundAmount: back } : {}
    await api.resolveTask({ id, outcome, ...split, reason: fields.reason || null })
    forget()
    toast({ tone: 'ok', word: 'Decided', text: act })
    onDecided()
  }
  return (
    <form
      class="card"
      aria-label="The decision"
      onSubmit={event => {
        event.preventDefault()
        setAsks(true)
      }}
    >
      <header>
        <h2>Who gets the {units(agreedPrice)}?</h2>
      </header>
      <fieldset class="choice">
        <legend class="vh">Outcome</legend>
        {(['refund', 'release', 'split'] as const).map(value => (
          <label key={value}>
            <input type="radio" name="outcome" value={value} checked={outcome === value} onChange={typed} />
            <b>{OUTCOMES[value][0]}</b>
            <span class="under">{OUTCOMES[value][1]}</span>
          </label>
        ))}
      </fieldset>
      <div class="in stack r8">
        {outcome === 'split' && (
          <div class="field">
            <label for="back">Back to the buyer</label>
            <input
              type="range"
              aria-label="Back to the buyer, by a slider"
              min={1}
              max={agreedPrice - 1}
              value={split}
              onInput={event => change({ back: units(Number(event.currentTarget.value)).replaceAll(',', '') })}
            />
            <input id="back" name="back" type="text" inputMode="decimal" value={fields.back} onInput={typed} />
          </div>
        )}
        <ShareBar
          height={20}
          label={`${units(back)} to the buyer, ${units(agreedPrice - back)} to the builder`}
          shares={parts}
        />
        <div class="row">
          <span>
            Buyer <b class="n">{units(back)}</b>
          </span>
          <span class="r">
            Builder <b class="n">{units(agreedPrice - back)}</b>
          </span>
        </div>
        <div class="field">
          <label for="reason">
            Why <span class="q">both read it</span>
          </label>
          <textarea id="reason" name="reason" rows={3} value={fields.reason} onInput={typed} />
        </div>
      </div>
      <footer class="acts">
        <button type="submit" class="b main-b">
          {act}
        </button>
        <span class="r q">Asks once more. It can’t be undone.</span>
      </footer>
      {asks && <Dialog title={`${act}?`} act={act} onAct={decide} onClose={() => setAsks(false)} />}
    </form>
  )
}
