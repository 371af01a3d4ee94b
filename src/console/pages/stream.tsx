/** The log of a simulator as it is written, in words, the newest first. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../api.ts'
import { isAtTop, paused, useChanges } from '../live.ts'
import { Chips, Newer } from '../parts/controls.tsx'
import { Icon } from '../parts/icons.tsx'
import { Card, Empty, Failed, Loading } from '../parts/say.tsx'
import { Room, useWindow } from '../parts/window.tsx'
import { Time } from '../parts/words.tsx'
import { goQuery, place } from '../router.ts'
import { useStore } from '../store.ts'
import { type Entry, type Happening, inWords, type Names, type Sort } from './happenings.tsx'

const EVERY_MS = 2000
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
  { value: 'looks', word: 'GET requests' },
] as const
type Shown = (typeof SHOWN)[number]['value']

const belongs = ({ sort, isBad }: Happening, shown: Shown) =>
  shown === '' ? sort !== 'looks' : shown === 'failed' ? isBad : sort === (shown satisfies Sort)

/** Names that entries do not have. Read anew when one is met that has none yet. */
class KnownNames implements Names {
  #agents = new Map<string, string>()
  #tasks = new Map<string, string>()

  agent(id: string | null): string {
    return this.#agents.get(id ?? '') ?? id ?? 'an agent'
  }

  task(id: string | null): string | undefined {
    return this.#tasks.get(id ?? '')
  }

  async learn(entries: readonly Entry[], signal: AbortSignal): Promise<void> {
    const ids = entries.flatMap(entry => ('taskId' in entry && entry.taskId?.startsWith('task_') ? [entry.taskId] : []))
    if (this.#agents.size > 0 && ids.every(id => this.#tasks.has(id))) return
    const [agents, tasks] = await Promise.all([
      api.adminListAgents({ limit: 100 }, { signal }),
      api.adminListTasks({ limit: 100 }, { signal }),
    ])
    this.#agents = new Map(agents.items.map(({ id, slug }) => [id, slug]))
    // What is older than the list has no title here, and is not asked for again.
    this.#tasks = new Map([
      ...ids.map(id => [id, id] as const),
      ...tasks.items.map(({ id, title }) => [id, title] as const),
    ])
  }
}

/** Reads what was written since the last time, while the page is seen. What comes while it is paused or its top out of sight waits. */
function useEntries() {
  const [told, setTold] = useState<readonly Told[]>()
  const [waiting, setWaiting] = useState<readonly Told[]>([])
  const [error, setError] = useState<unknown>()
  const [names] = useState(() => new KnownNames())
  const last = useRef(0)
  const isReading = useRef(false)
  const hasRead = useRef(false)
  const read = async (signal: AbortSignal) => {
    if (isReading.current || document.hidden) return
    isReading.current = true
    try {
      const entries: Entry[] = []
      for await (const entry of await api.watchEvents({ after: last.current, follow: 'false' }, { signal }))
        entries.push(entry as unknown as Entry)
      await names.learn(entries, signal)
      last.current = entries.at(-1)?.seq ?? last.current
      const fresh = entries.flatMap(entry => {
        const words = inWords(entry, names)
        return words ? [{ entry, words }] : []
      })
      setError(undefined)
      const isHeld = hasRead.current && (paused.value !== null || !isAtTop())
      hasRead.current = true
      if (isHeld) setWaiting(before => newestOf(fresh, before))
      else setTold((before = []) => newestOf(fresh, before))
    } catch (thrown) {
      if (!signal.aborted) setError(thrown)
    } finally {
      isReading.current = false
    }
  }
  const begun = useRef(new AbortController())
  useChanges(
    () => true,
    () => void read(begun.current.signal),
  )
  useEffect(() => {
    const abort = new AbortController()
    begun.current = abort
    void read(abort.signal)
    const timer = setInterval(() => void read(abort.signal), EVERY_MS)
    return () => {
      abort.abort()
      clearInterval(timer)
    }
  }, [])
  const show = () => {
    setTold((before = []) => [...waiting, ...before].slice(0, MOST))
    setWaiting([])
  }
  return { told, waiting, show, error }
}

const newestOf = (fresh: readonly Told[], before: readonly Told[]) =>
  fresh.length > 0 ? [...fresh.toReversed(), ...before].slice(0, MOST) : before

export function Stream() {
  const { query } = useStore(place)
  const shown = (query.get('show') ?? '') as Shown
  const { told, waiting, show: showAll, error } = useEntries()
  const list = useRef<HTMLOListElement>(null)
  const rows = (told ?? []).filter(({ words }) => belongs(words, shown))
  const { from, to, before, after } = useWindow(
    rows.map(({ entry }) => String(entry.seq)),
    list,
    'li[data-row]',
  )
  return (
    <Card
      id="stream"
      title="What happens"
      beside={<Chips label="Show" value={shown} choices={SHOWN} onChoose={show => goQuery({ show })} />}
    >
      <Newer many={waiting.filter(({ words }) => belongs(words, shown)).length} onShow={showAll} />
      {error !== undefined && <Failed what="The log could not be read. It is tried again each 2 s." error={error} />}
      {!told ? (
        error === undefined && <Loading lines={10} />
      ) : rows.length === 0 ? (
        <Empty title="Nothing yet" command="npx agent-marketplace simulate buyer sample-agent">
          <p>Start an agent and hire it: each webhook, callback and cent appears here.</p>
        </Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        <ol class="feed" ref={list} data-list tabIndex={0} aria-label="What happens">
          {before > 0 && <Room height={before} />}
          {rows.slice(from, to).map(({ entry, words }) => (
            <Row key={entry.seq} entry={entry} words={words} />
          ))}
          {after > 0 && <Room height={after} />}
        </ol>
      )}
      {told && <footer>{told.length.toLocaleString('en')} kept here.</footer>}
    </Card>
  )
}

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
