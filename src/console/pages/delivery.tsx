/** One delivery: what went wrong, its attempts, and the bytes. */
import { useEffect, useState } from 'preact/hooks'
import type { DeliveryDetails, DeliveryRecord } from '../../api/records.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Drawer } from '../parts/drawer.tsx'
import { Icon } from '../parts/icons.tsx'
import { Failed, Id, Loading } from '../parts/say.tsx'
import { deliveryStates, StateMark } from '../parts/states.tsx'
import { Age, Text, Time } from '../parts/words.tsx'
import { href, place } from '../router.ts'
import { isDev } from '../session.ts'
import { Exchange, RawExchange, useExchange, WhatWentWrong } from '../task/exchange.tsx'

export const isTaken = ({ status }: { status: number | null }) => status !== null && status >= 200 && status < 300

interface OneProps {
  id: string
  /** Unknown if it is not in the list beside. */
  agentId: string | undefined
  isOpen: boolean
  isAdmin: boolean
  onResend: (delivery: DeliveryRecord) => void
  onClose: () => void
}

const FOLLOW_MS = 2000

/** It is read anew until it has ended. */
export function OneDelivery({ id, agentId, isOpen, isAdmin, onResend, onClose }: OneProps) {
  const { data, error, reload } = useData(`${id} ${isOpen}`, async signal => {
    const owner = agentId ?? (await api.listMyDeliveries({ q: id, limit: 1 }, { signal })).items[0]?.agentId
    if (owner) return { own: await api.getDelivery({ id: owner, deliveryId: id }, { signal }) }
    if (!isAdmin) throw new Error('No webhook to an agent of yours has this id, or it is too old.')
    return { task: await taskOf(id, signal) }
  })
  const own = data?.own
  const isUnderWay = own?.endedAt === null
  useEffect(() => {
    const timer = isUnderWay ? setInterval(reload, FOLLOW_MS) : 0
    return () => clearInterval(timer)
  }, [isUnderWay])
  return (
    <Drawer
      label="The chosen webhook"
      title={
        <>
          <span class="m">{own?.event ?? 'Webhook'}</span> <span class="q n">{own && `${own.attemptCount} sent`}</span>
        </>
      }
      onClose={onClose}
    >
      {error ? <Failed what="The webhook could not be read." error={error} again={reload} /> : !data && <Loading />}
      {own ? <Details of={own} onResend={onResend} /> : data && <OfAnother task={data.task} />}
    </Drawer>
  )
}

/** The task that somebody else's webhook is about, as far as it can be found: a simulator's administrator sees all that was sent. */
async function taskOf(deliveryId: string, signal: AbortSignal) {
  const sent = isDev ? (await api.listExchanges({ deliveryId, limit: 1 }, { signal })).items[0] : undefined
  const id = place.value.query.get('task') ?? sent?.taskId
  return id?.startsWith('task_') ? api.getTask({ id }, { signal }) : undefined
}

/** The log of an agent's webhooks is its builder's. Administrators see each attempt where they see both sides: at the task. */
const OfAnother = ({ task }: { task: Awaited<ReturnType<typeof taskOf>> }) => (
  <div class="in stack r8">
    <p>No webhook to an agent of yours has this id. The log of another’s webhooks is for its builder alone.</p>
    <p>
      Administrators see each attempt, and what the agent answered, in the history of its task
      {task ? (
        <>
          :{' '}
          <a class="link" href={href(`/${task.dispute ? 'disputes' : 'tasks'}/${task.id}?show=agent`)}>
            <Text>{task.title}</Text>
          </a>
          {task.dispute && ', in dispute, with both sides'}
        </>
      ) : (
        '. Commands opens a task by its id.'
      )}
    </p>
  </div>
)

function Details({ of, onResend }: { of: DeliveryDetails; onResend: (delivery: DeliveryRecord) => void }) {
  const [wanted, setAttempt] = useState<number>()
  const attempt = of.attempts.find(one => one.attempt === wanted) ?? of.attempts.at(-1)
  const { diagnosis } = of
  const exchangeId = attempt?.exchangeId ?? null
  const exchange = useExchange(exchangeId, 0)
  return (
    <>
      <AttemptList of={of.attempts} chosen={attempt} onChoose={setAttempt} />
      <Facts of={of} message={attempt?.message} />
      {diagnosis && <WhatWentWrong of={diagnosis} exchange={exchange.data} />}
      {exchangeId ? <Exchange {...exchange} /> : <Kept of={of} attempt={attempt} />}
      <footer>
        {of.endedAt && (
          <button type="button" class="b s" onClick={() => onResend(of)}>
            <Icon name="retry" />
            Resend <kbd>r</kbd>
          </button>
        )}
      </footer>
    </>
  )
}

type Attempt = DeliveryDetails['attempts'][number]

/** What a marketplace keeps of it; a simulator has every byte. */
function Kept({ of: { request, answer, attempts }, attempt }: { of: DeliveryDetails; attempt: Attempt | undefined }) {
  const came = attempt && ((attempt === attempts.at(-1) ? answer?.body : attempt.answer) ?? '')
  const of = {
    method: request.method,
    url: request.url ?? '',
    requestHeaders: Object.entries(request.headers).map(([name, value]) => ({ name, value })),
    requestBody: request.body === null ? null : asBody(request.body),
    responseHeaders: attempt?.location ? [{ name: 'location', value: attempt.location }] : [],
    responseBody: came === undefined ? null : asBody(came),
  }
  return (
    <RawExchange
      key={attempt?.attempt}
      of={of}
      note={<p class="q">The headers of the signature are made for each attempt and not kept.</p>}
    />
  )
}

interface AttemptListProps {
  of: DeliveryDetails['attempts']
  chosen: Attempt | undefined
  onChoose: (attempt: number) => void
}

function AttemptList({ of, chosen, onChoose }: AttemptListProps) {
  if (of.length === 0) return null
  return (
    <div class="in">
      <ol class="seqd" aria-label="Attempts">
        {of.map(one => (
          <li key={one.attempt} class={`att ${isTaken(one) ? 'ok' : 'bad'}`}>
            <button type="button" class="row" aria-pressed={one === chosen} onClick={() => onChoose(one.attempt)}>
              <Icon name={isTaken(one) ? 'check' : 'failed'} />
              <span>{one.attempt}</span>
              <span class="q">
                <Time at={one.createdAt} ms />
              </span>
              <b class="ink">{one.status ?? one.reason}</b>
              <span class="q r">{one.durationMs} ms</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  )
}

function Facts({ of, message }: { of: DeliveryDetails; message: string | undefined }) {
  return (
    <div class="in stack r8">
      <div class="row">
        <StateMark of={deliveryStates[of.status]} pill />
        {message && <Text>{message}</Text>}
      </div>
      <dl class="dl">
        <dt>Agent</dt>
        <dd>
          <a href={href(`/agents/${of.agent.slug}`)}>{of.agent.slug}</a>
        </dd>
        <dt>Task</dt>
        <dd>
          <a href={href(`/tasks/${of.taskId}`)}>
            <Text>{of.task?.title ?? of.taskId}</Text>
          </a>
        </dd>
        <dt>Made</dt>
        <dd>
          <Time at={of.createdAt} ms />
        </dd>
        {of.nextAttemptAt && (
          <>
            <dt>Next</dt>
            <dd>
              <Age at={of.nextAttemptAt} />
            </dd>
          </>
        )}
        <dt>Delivery</dt>
        <dd>
          <Id of={of.id} label="the delivery’s id" />
        </dd>
        {of.resentAs && (
          <>
            <dt>Sent again</dt>
            <dd>
              <a href={href(`/deliveries/${of.resentAs}`)}>the newer one</a>
            </dd>
          </>
        )}
      </dl>
    </div>
  )
}

const asBody = (content: string) =>
  ({ encoding: 'text', content, bytes: new TextEncoder().encode(content).length, cut: false }) as const
