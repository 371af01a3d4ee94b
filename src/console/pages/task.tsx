/** One task: what has happened to it, and why; what failed, byte for byte; and what can be done now. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TaskHappening } from '../../api/task-history.ts'
import { useActions } from '../actions.ts'
import { api, isRefusal } from '../api.ts'
import { useData } from '../data.ts'
import { say, useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { Chips, Segments } from '../parts/controls.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Failed, Id, Loading } from '../parts/say.tsx'
import { Mark, StateMark, taskStates } from '../parts/states.tsx'
import { Age, Avatar, Money, marketClock, Text } from '../parts/words.tsx'
import { goQuery, href, place } from '../router.ts'
import type { Me } from '../session.ts'
import { useStore } from '../store.ts'
import { Asked, Messages, TaskMoney, Work } from '../task/aside.tsx'
import { Happening } from '../task/happening.tsx'
import { CLOCK_WORDS, CLOCKS, type ClockName, Lanes, List } from '../task/lanes.tsx'
import { Life } from '../task/life.tsx'
import { Next, type Task } from '../task/next.tsx'
import { isShown, linesOf, type Row, rowsOf, SHOWS, type Show, sentenceOf } from '../task/rows.ts'

export default function TaskPage({ params, query, me }: PageProps) {
  const id = params.id!
  const task = useData(id, signal => api.getTask({ id }, { signal }))
  const history = useHistory(id)
  const reload = () => {
    task.reload()
    history.reload()
  }
  useChanges(({ taskId }) => taskId === id, reload)
  const crumb = (
    <>
      <a href={href('/tasks')}>Tasks</a> <Icon name="chevron" /> <Id of={id} label="the task’s id" />
    </>
  )
  if (!task.data)
    return (
      <>
        <Head title="Task" crumb={crumb} />
        {task.error ? (
          <Failed
            what={isRefusal(task.error, 404) ? 'No task of yours has this id.' : 'The task could not be read.'}
            error={task.error}
            again={task.reload}
          />
        ) : (
          <Loading lines={8} />
        )}
      </>
    )
  return <OneTask task={task.data} history={history} query={query} me={me} crumb={crumb} onDone={reload} />
}

const PAGE = 100
/** The last of what was read may have changed since: an attempt that was under way. */
const AGAIN = 50

/** All that has happened. What was read once is kept: later only its end is read. */
function useHistory(id: string) {
  const kept = useRef<{ id: string; items: readonly TaskHappening[] }>({ id, items: [] })
  return useData(id, async signal => {
    const before = kept.current.id === id ? kept.current.items : []
    let page = Math.floor(Math.max(0, before.length - AGAIN) / PAGE) + 1
    const items = before.slice(0, (page - 1) * PAGE)
    for (;;) {
      const part = await api.getTaskHistory({ id, page, limit: PAGE }, { signal })
      items.push(...part.items)
      if (!part.pagination.hasMore) break
      page++
    }
    kept.current = { id, items }
    return items
  })
}

interface OneProps {
  task: Task
  history: ReturnType<typeof useHistory>
  query: URLSearchParams
  me: Me
  crumb: preact.ComponentChildren
  onDone: () => void
}

function OneTask({ task, history, query, me, crumb, onDone }: OneProps) {
  const rows = useMemo(() => rowsOf(history.data ?? []), [history.data])
  const { hash } = useStore(place)
  const chosen = rows.find(({ id }) => hash === `#e-${id}`)
  const isReviewed = rows.some(
    ({ of }) => of.kind === 'review' || (of.kind === 'request' && of.action === 'review' && of.status < 300),
  )
  const isMine = me.id === task.buyerId || me.id === task.builderId
  const version = String(rows.length)
  useSaying(rows)
  return (
    <>
      <Head
        title={task.title}
        crumb={crumb}
        sub={<Facts task={task} rows={rows} />}
        acts={<Next task={task} me={me} isReviewed={isReviewed} onDone={onDone} />}
      />
      {history.error !== undefined && (
        <Failed what="What has happened could not be read." error={history.error} again={history.reload} />
      )}
      {history.data && <Life rows={rows} now={marketClock.now()} />}
      <div class={chosen ? 'cols wide' : 'cols'}>
        {history.data ? <History rows={rows} task={task} query={query} chosen={chosen} /> : <Loading lines={12} />}
        {chosen ? (
          <Happening key={chosen.id} row={chosen} rows={rows} task={task} me={me} onDone={onDone} />
        ) : (
          <div class="stack">
            <TaskMoney rows={rows} task={task} />
            <Work task={task} version={version} />
            <Asked task={task} />
            <Messages
              task={task}
              version={version}
              mayWrite={isMine && MAY_WRITE.includes(task.status)}
              onSent={onDone}
            />
          </div>
        )}
      </div>
    </>
  )
}

const MAY_WRITE: readonly Task['status'][] = ['pending', 'in_progress', 'delivered', 'completed']

function Facts({ task, rows }: { task: Task; rows: readonly Row[] }) {
  const isDisputed = task.dispute?.status === 'open'
  const isHeld = task.status === 'pending' || task.status === 'in_progress' || task.status === 'delivered'
  return (
    <>
      <StateMark of={taskStates[task.status]} pill />
      {isDisputed && (
        <Mark tone="bad" icon="flag" pill>
          In dispute
        </Mark>
      )}
      <span>
        <Money cents={task.agreedPrice} tone={isHeld ? 'held' : ''} /> {isHeld ? 'held' : 'agreed'}
      </span>
      <span>
        <Avatar id={task.buyerId} name={buyerOf(rows) || 'Buyer'} round />
        <Text>{buyerOf(rows) || 'Buyer'}</Text>
      </span>
      <span>
        <Avatar id={task.agent.id} name={task.agent.name} />
        <a class="link" href={`/agents/${encodeURIComponent(task.agent.slug)}`}>
          <Text>{task.agent.name}</Text>
        </a>
      </span>
      {task.revisionCount > 0 && (
        <span>
          {task.revisionCount} of {task.maxRevisions ?? 'any number of'} revisions
        </span>
      )}
      <span class="q">
        changed <Age at={task.updatedAt} />
      </span>
    </>
  )
}

const buyerOf = (rows: readonly Row[]) => rows.find(({ of }) => of.by.party === 'buyer' && of.by.name)?.of.by.name ?? ''

const SHOW_WORDS = { '': 'Everything', failed: 'Failed', money: 'Money', agent: 'Agent’s part' } as const

interface HistoryProps {
  rows: readonly Row[]
  task: Task
  query: URLSearchParams
  chosen: Row | undefined
}

const oneOf = <Value extends string>(all: readonly Value[], given: string | null): Value =>
  all.find(value => value === given) ?? all[0]!

function History({ rows, task, query, chosen }: HistoryProps) {
  const show = oneOf<Show>(SHOWS, query.get('show'))
  const clock = oneOf<ClockName>(CLOCKS, query.get('clock'))
  const isList = query.get('as') === 'list'
  const lines = useMemo(() => linesOf(rows, show), [rows, show])
  const toShow = (show: Show) => goQuery({ show })
  useActions([
    { title: 'Failed only', key: 'f', run: () => toShow(show === 'failed' ? '' : 'failed') },
    { title: isList ? 'Show as lanes' : 'Show as list', run: () => goQuery({ as: isList ? null : 'list' }) },
  ])
  const props = { lines, clock, began: rows[0]?.at ?? task.createdAt, chosen: chosen?.id }
  return (
    <div class="stack story">
      <div class="bar">
        <Chips
          label="Show"
          value={show}
          choices={SHOWS.map(value => ({
            value,
            word: SHOW_WORDS[value],
            many: rows.filter(row => isShown(row, value)).length,
            ...(value === 'failed' && { icon: 'failed' as const }),
          }))}
          onChoose={toShow}
        />
        <span class="r row">
          <Segments
            label="Times"
            value={clock}
            choices={CLOCKS.map(value => ({ value, word: CLOCK_WORDS[value].split(' ')[0]! }))}
            onChoose={clock => goQuery({ clock })}
          />
          <Segments
            label="Show as"
            value={isList ? 'list' : ''}
            choices={[
              { value: '', word: 'Lanes' },
              { value: 'list', word: 'List' },
            ]}
            onChoose={as => goQuery({ as })}
          />
        </span>
      </div>
      {isList ? <List {...props} /> : <Lanes {...props} names={{ buyer: buyerOf(rows), agent: task.agent.slug }} />}
      {lines.length === 0 && (
        <p class="q">{show ? 'Nothing of this kind has happened.' : 'Nothing has happened yet.'}</p>
      )}
      <New rows={rows} />
    </div>
  )
}

/** How many rows have come below what is seen. */
function New({ rows }: { rows: readonly Row[] }) {
  const [seen, setSeen] = useState(rows.length)
  const end = useRef<HTMLParagraphElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => setAtEnd(entry!.isIntersecting))
    watch.observe(end.current!)
    return () => watch.disconnect()
  }, [])
  useEffect(() => {
    if (isAtEnd) setSeen(rows.length)
  }, [isAtEnd, rows.length])
  const many = rows.length - seen
  return (
    <>
      {many > 0 && (
        <button type="button" class="b s news" onClick={() => end.current?.scrollIntoView({ block: 'end' })}>
          <Icon name="down" />
          {many} new
        </button>
      )}
      <p class="pager" ref={end}>
        {rows.length} in all, newest last.
        <span class="r p2">
          <kbd>j</kbd> <kbd>k</kbd> walk · <kbd>f</kbd> failed only · <kbd>Enter</kbd> open
        </span>
      </p>
    </>
  )
}

/** Tells who does not see the page what has happened. */
function useSaying(rows: readonly Row[]): void {
  const told = useRef(rows.length)
  useEffect(() => {
    const last = rows.at(-1)
    if (last && told.current > 0 && rows.length > told.current) say(sentenceOf(last))
    told.current = rows.length
  }, [rows])
}
