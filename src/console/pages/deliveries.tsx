/** What the marketplace sent to one's agents, and what became of each. */
import { useState } from 'preact/hooks'
import type { AgentEvent } from '../../api/flow.ts'
import type { DeliveryRecord } from '../../api/records.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { useNewer } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Attempts, Chips, Find, given, Newer } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Listing } from '../parts/listing.tsx'
import { Empty } from '../parts/say.tsx'
import { deliveryStates, StateMark } from '../parts/states.tsx'
import { toast, tried } from '../parts/toasts.tsx'
import { Age, Text, Time } from '../parts/words.tsx'
import { go, goQuery, href, place } from '../router.ts'
import { isTaken, OneDelivery } from './delivery.tsx'

const KEYS = ['agent', 'event', 'task', 'since']
const STATES = [
  { value: '', word: 'All' },
  { value: 'delivered', word: 'Delivered', icon: 'check' },
  { value: 'pending', word: 'Trying again', icon: 'retry' },
  { value: 'failed', word: 'Given up', icon: 'failed' },
  { value: 'waiting', word: 'Waiting', icon: 'clock' },
] as const
type State = (typeof STATES)[number]['value']

/** The address of one delivery, with the filters as they are. */
const addressOf = (id?: string) =>
  `/deliveries${id ? `/${id}` : ''}${place.value.query.size > 0 ? `?${place.value.query}` : ''}`

export default function Deliveries({ params, query, me }: PageProps) {
  const filters = Object.fromEntries([...KEYS, 'q'].map(key => [key, query.get(key) ?? '']))
  const state = (query.get('state') ?? '') as State
  const { agent = '', event = '', task = '', since = '', q = '' } = filters
  const which = given({ agent, event: event as AgentEvent | '', taskId: task, since })
  const search = { ...which, ...given({ q }) }
  const page = Number(query.get('page') ?? 1)
  const list = useData(query.toString(), signal =>
    api.listMyDeliveries({ ...search, ...given({ status: state }), page, limit: 20 }, { signal }),
  )
  const counts = useData(JSON.stringify(search), signal => api.countMyDeliveries(search, { signal }))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const rows = list.data?.items ?? []
  const open = rows.find(({ id }) => id === params.id)
  const failed = counts.data?.failed ?? 0
  const after = () => {
    setChosen(new Set())
    list.reload()
    counts.reload()
  }
  const [newer, show] = useNewer(
    ({ type }) => type === 'webhook',
    () => {
      list.reload()
      counts.reload()
    },
  )
  const one = (delivery: DeliveryRecord) => resend(delivery).then(after)
  const many = (ids?: readonly string[]) => resendMany(ids ? { ids: [...ids] } : { failed: which }).then(after)
  useActions([
    {
      title: 'Resend the chosen webhook',
      key: 'r',
      run: () => open && void one(open),
      ...(!open && { because: 'No webhook is chosen' }),
    },
    {
      title: 'Resend all failed webhooks',
      key: 'R',
      run: () => void many(),
      ...(failed === 0 && { because: 'None has failed' }),
    },
  ])
  const total = counts.data && Object.values(counts.data).reduce((sum, some) => sum + some, 0)
  return (
    <>
      <Head
        title="Deliveries"
        sub={<span>Webhooks to your agents, and what became of each.</span>}
        acts={<Resend chosen={[...chosen]} failed={failed} onResend={many} />}
      />
      <div class="bar">
        <Find
          label="Filter deliveries"
          placeholder="Words, agent: event: task:"
          filters={filters}
          keys={KEYS}
          onFilter={next => goQuery({ ...NONE, ...next }, { replace: true })}
        />
        <Chips
          label="State"
          value={state}
          choices={STATES.map(choice => ({ ...choice, many: choice.value ? counts.data?.[choice.value] : total }))}
          onChoose={value => goQuery({ state: value, page: null })}
        />
      </div>
      <Newer many={newer} onShow={show} />
      <div class={params.id ? 'cols wide' : 'stack'}>
        <section class="card" aria-label="Deliveries" aria-busy={list.isLoading}>
          <Listing
            label="The deliveries"
            list={list}
            rows={rows}
            keyOf={row => row.id}
            open={params.id}
            isFiltered={query.size > 0}
            empty={nothing}
            columns={[chooser(chosen, setChosen), ...COLUMNS]}
          />
        </section>
        {params.id && (
          <OneDelivery
            id={params.id}
            agentId={open?.agentId}
            isOpen={open?.endedAt === null}
            isAdmin={me.isAdmin}
            onResend={one}
            onClose={() => go(addressOf())}
          />
        )}
      </div>
    </>
  )
}

const NONE = { ...Object.fromEntries(KEYS.map(key => [key, null])), q: null, page: null }

/** Sends it once more, and goes to the new one, which is followed. */
async function resend({ id: deliveryId, agentId, event }: DeliveryRecord): Promise<void> {
  const next = await tried('Not sent', () => api.redeliver({ id: agentId, deliveryId }))
  if (!next) return
  toast({ tone: 'ok', word: 'Sent again', text: `${event} is under way.` })
  go(addressOf(next.id))
}

async function resendMany(which: Parameters<typeof api.resendDeliveries>[0]): Promise<void> {
  let sent = 0
  const refusals = new Set<string>()
  for (let isMore = true; isMore; ) {
    const answer = await tried('Not sent', () => api.resendDeliveries(which))
    if (!answer) return
    for (const { refused } of answer.items) {
      if (refused === null) sent++
      else refusals.add(refused)
    }
    isMore = answer.more && answer.items.some(({ refused }) => refused === null)
  }
  const text = [`${sent} under way.`, ...refusals].join(' ')
  toast(refusals.size > 0 ? { tone: 'bad', word: 'Not all sent', text } : { tone: 'ok', word: 'Sent again', text })
}

interface ResendProps {
  chosen: readonly string[]
  failed: number
  onResend: (ids?: readonly string[]) => void
}

function Resend({ chosen, failed, onResend }: ResendProps) {
  if (chosen.length === 0 && failed === 0) return null
  return (
    <button type="button" class="b" onClick={() => onResend(chosen.length > 0 ? chosen : undefined)}>
      <Icon name="retry" />
      {chosen.length > 0 ? (
        `Resend ${chosen.length} chosen`
      ) : (
        <>
          Resend all failed <kbd>R</kbd>
        </>
      )}
    </button>
  )
}

const nothing = (
  <Empty title="No deliveries yet" command="npx agent-marketplace simulate buyer AGENT">
    <p>Each webhook to your agent appears here with its attempts and answers. Hire it to see the first one.</p>
  </Empty>
)

const chooser = (chosen: ReadonlySet<string>, setChosen: (chosen: ReadonlySet<string>) => void) => ({
  head: <span class="vh">Choose</span>,
  cell: ({ id, event, task }: DeliveryRecord) => (
    <input
      type="checkbox"
      aria-label={`Choose ${event} ${task?.title ?? ''}`}
      checked={chosen.has(id)}
      onChange={({ currentTarget: { checked } }) =>
        setChosen(new Set(checked ? [...chosen, id] : [...chosen].filter(other => other !== id)))
      }
    />
  ),
})

const COLUMNS = [
  { head: 'State', cell: (row: DeliveryRecord) => <StateMark of={deliveryStates[row.status]} pill /> },
  {
    head: 'Event and task',
    class: 'wide-c',
    cell: (row: DeliveryRecord) => (
      <>
        <a class="go m" href={href(addressOf(row.id))}>
          {row.event}
        </a>
        <span class="under cut">
          <Text>{row.task?.title ?? row.taskId}</Text> · {row.agent.slug}
        </span>
      </>
    ),
  },
  {
    head: 'Attempts',
    class: 'p2',
    cell: (row: DeliveryRecord) => <Attempts results={row.attempts.map(isTaken)} total={row.attemptCount} />,
  },
  { head: 'Last answer', class: 'p2', cell: (row: DeliveryRecord) => <LastAnswer of={row} /> },
  {
    head: 'Made',
    class: 'n p2',
    cell: (row: DeliveryRecord) => (
      <>
        <Time at={row.createdAt} />
        <span class="under">
          <Age at={row.createdAt} bare />
        </span>
      </>
    ),
  },
]

function LastAnswer({ of }: { of: DeliveryRecord }) {
  const last = of.attempts.at(-1)
  if (!last) return <span class="q">not sent yet</span>
  const next = of.nextAttemptAt && (
    <>
      , <Age at={of.nextAttemptAt} />
    </>
  )
  if (last.status === null)
    return (
      <span class="ink bad">
        {last.reason}
        {next}
      </span>
    )
  return (
    <>
      <b class={`n ${isTaken(last) ? '' : 'ink bad'}`}>{last.status}</b>{' '}
      <span class="q n">
        {last.durationMs} ms{next}
      </span>
    </>
  )
}
