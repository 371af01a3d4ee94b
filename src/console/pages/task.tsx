/** One task: what has happened to it, and why; what failed, byte for byte; and what can be done now. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { api, isRefusal } from '../api.ts'
import { useData } from '../data.ts'
import { say, useChanges } from '../live.ts'
import type { PageProps } from '../page.ts'
import { useNarrow } from '../parts/drawer.tsx'
import { Parts } from '../parts/guard.tsx'
import { Head } from '../parts/head.tsx'
import { Icon } from '../parts/icons.tsx'
import { Failed, Id, Loading } from '../parts/say.tsx'
import { Mark, StateMark, taskStates } from '../parts/states.tsx'
import { Age, Avatar, Money, marketClock, Text } from '../parts/words.tsx'
import { href, place } from '../router.ts'
import type { Me } from '../session.ts'
import { useStore } from '../store.ts'
import { Asked, Messages, TaskMoney } from '../task/aside.tsx'
import { Happening } from '../task/happening.tsx'
import { buyerOf, History, useHistory } from '../task/history.tsx'
import { Life } from '../task/life.tsx'
import { Next, type Task } from '../task/next.tsx'
import { type Row, rowsOf, sentenceOf } from '../task/rows.ts'
import { Work } from '../task/work.tsx'

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
  const version = history.isWhole ? String(rows.length) : ''
  useSaying(rows, history.isWhole)
  const isNarrow = useNarrow()
  const work = <Work task={task} version={version} />
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
      <Parts class={chosen ? 'cols wide' : 'cols'}>
        {isNarrow && work}
        {history.data ? (
          <History rows={rows} isWhole={history.isWhole} task={task} query={query} chosen={chosen} />
        ) : (
          <Loading lines={12} />
        )}
        {chosen ? (
          <Happening key={chosen.id} row={chosen} rows={rows} task={task} me={me} onDone={onDone} />
        ) : (
          <Parts class="stack">
            <TaskMoney rows={rows} task={task} />
            {!isNarrow && work}
            <Asked task={task} />
            <Messages
              task={task}
              version={version}
              mayWrite={isMine && MAY_WRITE.includes(task.status)}
              onSent={onDone}
            />
          </Parts>
        )}
      </Parts>
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
      {isDisputed && <span>an administrator decides, and both read why</span>}
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

/** Tells who does not see the page what has happened. */
function useSaying(rows: readonly Row[], isWhole: boolean): void {
  const told = useRef(0)
  useEffect(() => {
    const last = rows.at(-1)
    if (last && told.current > 0 && rows.length > told.current) say(sentenceOf(last))
    told.current = isWhole ? rows.length : 0
  }, [rows])
}
