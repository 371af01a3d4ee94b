/** What has happened to a task: read page by page, and shown in lanes or as a list. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { TaskHappening } from '../../api/task-history.ts'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Chips, Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icons.tsx'
import { goQuery } from '../router.ts'
import { CLOCK_WORDS, CLOCKS, type ClockName, Lanes, List } from './lanes.tsx'
import type { Task } from './next.tsx'
import { isShown, linesOf, type Row, SHOWS, type Show } from './rows.ts'

/** The first is there soon, and all others come with few requests. */
const [FIRST, PAGE] = [100, 1000]
/** The last of what was read may have changed since: an attempt that was under way. */
const AGAIN = 50
/** Of more the newest are told, so that all have moved. */
const MOST = 10_000

/** All that has happened, shown as it comes; `isWhole`: all has come. What was read once is kept: later only its end is read. */
export function useHistory(id: string) {
  const kept = useRef<{ id: string; items: readonly TaskHappening[] }>({ id: '', items: [] })
  const loaded = useData<readonly TaskHappening[]>(id, async (signal, soFar) => {
    const before = kept.current.id === id ? kept.current.items : []
    let items = before.length < MOST ? before.slice(0, Math.max(0, before.length - AGAIN)) : []
    for (let limit = FIRST; ; limit = PAGE) {
      const page = Math.floor(items.length / limit) + 1
      const part = await api.getTaskHistory({ id, page, limit }, { signal })
      items = [...items.slice(0, (page - 1) * limit), ...part.items]
      if (!part.pagination.hasMore) break
      if (before.length === 0) soFar(items)
    }
    kept.current = { id, items }
    return items
  })
  return { ...loaded, isWhole: kept.current.id === id }
}

export const buyerOf = (rows: readonly Row[]) =>
  rows.find(({ of }) => of.by.party === 'buyer' && of.by.name)?.of.by.name ?? ''

const SHOW_WORDS = { '': 'Everything', failed: 'Failed', money: 'Money', agent: 'Agent’s part' } as const

interface HistoryProps {
  rows: readonly Row[]
  isWhole: boolean
  task: Pick<Task, 'createdAt' | 'agent'>
  query: URLSearchParams
  chosen: Row | undefined
}

const oneOf = <Value extends string>(all: readonly Value[], given: string | null): Value =>
  all.find(value => value === given) ?? all[0]!

export function History({ rows, isWhole, task, query, chosen }: HistoryProps) {
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
      <New rows={rows} isWhole={isWhole} />
    </div>
  )
}

/** How many rows have come below what is seen. */
function New({ rows, isWhole }: Pick<HistoryProps, 'rows' | 'isWhole'>) {
  const [seen, setSeen] = useState(rows.length)
  const end = useRef<HTMLParagraphElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => setAtEnd(entry!.isIntersecting))
    watch.observe(end.current!)
    return () => watch.disconnect()
  }, [])
  const wasWhole = useRef(false)
  useEffect(() => {
    if (isAtEnd || !wasWhole.current) setSeen(rows.length)
    wasWhole.current = isWhole
  }, [isAtEnd, isWhole, rows.length])
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
        {rows.length} {isWhole ? 'in all, newest last.' : 'so far: newer ones are read.'}
        <span class="r p2">
          <kbd>j</kbd> <kbd>k</kbd> walk · <kbd>f</kbd> failed only · <kbd>Enter</kbd> open
        </span>
      </p>
    </>
  )
}
