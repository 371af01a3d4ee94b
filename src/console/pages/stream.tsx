/** The log of a simulator as it is written, in words, the newest first. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { useActions } from '../actions.ts'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Chips } from '../parts/controls.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Empty, Failed, Loading } from '../parts/say.tsx'
import { useWindow } from '../parts/table.tsx'
import { Time } from '../parts/words.tsx'
import { goQuery, place } from '../router.ts'
import { useStore } from '../store.ts'
import { type Entry, type Happening, inWords, type Names, type Sort } from './happenings.tsx'

const EVERY_MS = 1000
/** As many as the page keeps. */
const MOST = 10_000

interface Told {
  readonly entry: Entry
  readonly words: Happening
}

const SHOWN = [
  { value: '', word: 'Everything' },
  { value: 'failed', word: 'Failed', icon: 'failed' },
  { value: 'webhooks', word: 'Webhooks' },
  { value: 'money', word: 'Money' },
  { value: 'tests', word: 'Tests' },
  { value: 'looks', word: 'Requests that look' },
] as const
type Shown = (typeof SHOWN)[number]['value']

const belongs = ({ sort, isBad }: Happening, shown: Shown) =>
  shown === '' ? sort !== 'looks' : shown === 'failed' ? isBad : sort === (shown satisfies Sort)

/** Reads what was written since the last time, while the page is seen and nobody has paused it. */
function useEntries(isPaused: boolean, names: Names) {
  const [told, setTold] = useState<readonly Told[]>()
  const [error, setError] = useState<unknown>()
  const last = useRef(0)
  useEffect(() => {
    if (isPaused) return
    const abort = new AbortController()
    const read = async () => {
      const fresh: Told[] = []
      try {
        const options = { signal: abort.signal }
        for await (const item of await api.watchEvents({ after: last.current, follow: 'false' }, options)) {
          const entry = item as unknown as Entry
          last.current = entry.seq
          const words = inWords(entry, names)
          if (words) fresh.push({ entry, words })
        }
        setError(undefined)
      } catch (thrown) {
        if (abort.signal.aborted) return
        setError(thrown)
      }
      if (abort.signal.aborted) return
      setTold(before => (fresh.length > 0 || !before ? [...fresh.reverse(), ...(before ?? [])].slice(0, MOST) : before))
    }
    void read()
    const timer = setInterval(() => document.hidden || void read(), EVERY_MS)
    return () => {
      abort.abort()
      clearInterval(timer)
    }
  }, [isPaused, names])
  return { told, error }
}

/** Names that entries do not have. */
function useNames(): Names | undefined {
  const { data } = useData('names', async signal => {
    const [agents, tasks] = await Promise.all([
      api.adminListAgents({ limit: 100 }, { signal }),
      api.adminListTasks({ limit: 100 }, { signal }),
    ])
    const slugs = new Map(agents.items.map(({ id, slug }) => [id, slug]))
    const titles = new Map(tasks.items.map(({ id, title }) => [id, title]))
    return { agent: id => slugs.get(id ?? '') ?? id ?? 'an agent', task: id => titles.get(id ?? '') } satisfies Names
  })
  return data
}

export function Stream() {
  const { query } = useStore(place)
  const shown = (query.get('show') ?? '') as Shown
  const [isPaused, setPaused] = useState(false)
  const names = useNames()
  const { told, error } = useEntries(isPaused || !names, names ?? NOBODY)
  const list = useRef<HTMLOListElement>(null)
  const rows = (told ?? []).filter(({ words }) => belongs(words, shown))
  const { from, to, before, after } = useWindow(rows.length, list, 'li[data-row]')
  useActions([{ title: isPaused ? 'Go on' : 'Pause', key: 'p', run: () => setPaused(!isPaused) }])
  return (
    <Card
      id="stream"
      title="What happens"
      beside={<Chips label="Show" value={shown} choices={SHOWN} onChoose={show => goQuery({ show })} />}
      tools={
        <button type="button" class="b s" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          Pause <kbd>p</kbd>
        </button>
      }
    >
      {error !== undefined && <Failed what="The log could not be read. It is tried again each second." error={error} />}
      {!told ? (
        <Loading lines={10} />
      ) : rows.length === 0 ? (
        <Empty title="Nothing yet" command="npx marketplace simulate buyer sample-agent">
          <p>Start an agent and hire it: each webhook, callback and cent appears here.</p>
        </Empty>
      ) : (
        <ol class="feed" ref={list} data-list>
          {before > 0 && <li class="space" style={{ height: before }} />}
          {rows.slice(from, to).map(({ entry, words }) => (
            <Row key={entry.seq} entry={entry} words={words} />
          ))}
          {after > 0 && <li class="space" style={{ height: after }} />}
        </ol>
      )}
      <footer>{told?.length.toLocaleString('en')} kept here.</footer>
    </Card>
  )
}

const NOBODY: Names = { agent: id => id ?? '', task: () => undefined }

const Row = ({ entry: { at }, words: { tone, icon, word, text, ms, isSaid } }: Told) => (
  <li class={`${tone} ${isSaid ? 'say' : ''}`} data-row>
    <Time at={at} ms />
    <Icon name={icon} />
    <span class="w">
      <b>{word}</b> <span class="q">{text}</span>
    </span>
    <span class="ms n">{ms !== undefined && `${ms.toLocaleString('en')} ms`}</span>
  </li>
)
