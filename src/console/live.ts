/**
 * What changes, as it changes: one stream for the whole browser, not for each tab, as a browser has six connections to a server and a stream
 * holds one. The tab that has the lock has the stream, and tells the others. A tab that is hidden for a while gives the lock away. While the
 * stream is cut, what is shown is read anew each 2 s, and the strip says so.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Change } from '../api/dev-records.ts'
import { place } from './router.ts'
import { isDev } from './session.ts'
import { Store } from './store.ts'

interface Live {
  readonly is: 'starting' | 'live' | 'polling'
  /** Real time. */
  readonly since: number
}

export const live = new Store<Live>({ is: 'starting', since: Date.now() })
/** How many changes this tab has left out, as it is paused; null: it is not. */
export const paused = new Store<number | null>(null)
/** What is said to who does not see the page: one sentence. */
export const said = new Store('')

const HIDDEN_MS = 30_000
const POLL_MS = 2000
const SENTENCE_MS = 5000
const REOPEN_MS = 5000
const SOON_MS = 200
/** What follows all that happens asks at most so often: a deployment counts requests. */
const GAP_MS = isDev ? SOON_MS : POLL_MS
/** Longer than a browser takes to open a stream anew. */
const LOST_MS = 4000
/** Something comes each 15 s, so a stream that is silent for longer stands still, and no error would ever say so. */
const SILENT_MS = 40_000

type Heard = { change: Change } | { live: Live } | { resync: true } | { hello: true }

const followers = new Set<(change: Change | null, isPaused: boolean) => void>()
const tabs = new BroadcastChannel('live')

function hear(heard: Heard): void {
  if ('live' in heard) live.set(heard.live)
  else if ('change' in heard || 'resync' in heard) {
    const change = 'change' in heard ? heard.change : null
    const isPaused = paused.value !== null
    if (isPaused && change) paused.set(paused.value! + 1)
    for (const follow of followers) follow(change, isPaused)
  }
}

/** Everywhere: here too. */
function tell(heard: Heard): void {
  tabs.postMessage(heard)
  hear(heard)
}

tabs.onmessage = ({ data }: MessageEvent<Heard>) => {
  if ('hello' in data) {
    if (isLeader) tabs.postMessage({ live: live.value })
  } else hear(data)
}

let isLeader = false

/** Holds the stream until it is told to stop. */
function lead(stop: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    isLeader = true
    let source: EventSource | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let polling: ReturnType<typeof setInterval> | undefined
    let losing: ReturnType<typeof setTimeout> | undefined
    let silence: ReturnType<typeof setTimeout> | undefined
    const become = (is: Live['is']) => {
      clearInterval(polling)
      if (is === 'polling') polling = setInterval(() => tell({ resync: true }), POLL_MS)
      if (live.value.is !== is) tell({ live: { is, since: Date.now() } })
    }
    const heard = () => {
      clearTimeout(silence)
      silence = setTimeout(() => {
        source?.close()
        clearTimeout(timer)
        become('polling')
        open()
      }, SILENT_MS)
    }
    const open = () => {
      heard()
      source = new EventSource('/api/stream')
      source.addEventListener('alive', heard)
      source.onopen = () => {
        heard()
        clearTimeout(losing)
        losing = undefined
        // What was missed while the stream was cut, or while nobody had it.
        tell({ resync: true })
        become('live')
      }
      source.onmessage = ({ data }) => {
        heard()
        tell({ change: JSON.parse(data) })
      }
      source.addEventListener('resync', () => {
        heard()
        tell({ resync: true })
      })
      source.onerror = () => {
        // A stream ends now and then, and the browser opens it again. After a response that is no stream it does not.
        losing ??= setTimeout(become, LOST_MS, 'polling')
        if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_MS)
      }
    }
    stop.addEventListener('abort', () => {
      isLeader = false
      clearTimeout(timer)
      clearTimeout(losing)
      clearTimeout(silence)
      clearInterval(polling)
      source?.close()
      resolve()
    })
    open()
  })
}

let stopLeading: AbortController | undefined

/** Leads, or waits to. */
function join(): void {
  if (stopLeading) return
  stopLeading = new AbortController()
  const { signal } = stopLeading
  tabs.postMessage({ hello: true } satisfies Heard)
  // Without a secure context there are no locks: then each tab has its own.
  if (!navigator.locks) void lead(signal)
  else navigator.locks.request('stream', { signal }, () => lead(signal)).catch(() => {})
}

function leave(): void {
  stopLeading?.abort()
  stopLeading = undefined
}

/** From signing in until signing out. Returns what ends it. */
export function goLive(): () => void {
  let hiding: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(leave, HIDDEN_MS)
    else if (!stopLeading) {
      join()
      hear({ resync: true })
    }
  }
  document.addEventListener('visibilitychange', look)
  join()
  return () => {
    clearTimeout(hiding)
    document.removeEventListener('visibilitychange', look)
    leave()
  }
}

export function pause(): void {
  const isPaused = paused.value !== null
  paused.set(isPaused ? null : 0)
  if (isPaused) hear({ resync: true })
}

/**
 * Calls `reload` after changes that `isMine`, and after such as were missed: soon, but not too often, and in a tab that is hidden only once it
 * is seen. `hold`: gets those for which what is seen would jump, or that come while it is paused.
 */
export function useChanges(
  isMine: (change: Change) => boolean,
  reload: () => void,
  hold?: (change: Change) => void,
): void {
  const last = useRef({ isMine, reload, hold })
  last.current = { isMine, reload, hold }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isStale = false
    let readAt = 0
    const due: Change[] = []
    const now = () => {
      timer = undefined
      const changes = due.splice(0)
      const { hold, reload } = last.current
      // It was paused, or its top left out of sight, after they had come.
      if (paused.value !== null || (hold && changes.length > 0 && !isAtTop())) {
        if (hold) changes.forEach(hold)
        return
      }
      isStale = document.hidden
      if (isStale) return
      readAt = Date.now()
      reload()
    }
    const follow = (change: Change | null, isPaused: boolean) => {
      const { isMine, hold } = last.current
      if (change !== null && !isMine(change)) return
      if (change !== null && hold && (isPaused || !isAtTop())) return hold(change)
      if (isPaused) return
      if (change !== null) due.push(change)
      timer ??= setTimeout(now, Math.max(SOON_MS, readAt + GAP_MS - Date.now()))
    }
    const look = () => isStale && now()
    followers.add(follow)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(timer)
      followers.delete(follow)
      document.removeEventListener('visibilitychange', look)
    }
  }, [])
}

/** Calls `hear` with each change as it comes, for what is read from the change itself. */
export function useEachChange(hear: (change: Change) => void): void {
  const last = useRef(hear)
  last.current = hear
  useEffect(() => {
    const follow = (change: Change | null) => change && last.current(change)
    followers.add(follow)
    return () => void followers.delete(follow)
  }, [])
}

/** The first rows of the first page are in sight: there new ones may come. */
export const isAtTop = () =>
  (place.value.query.get('page') ?? '1') === '1' &&
  Math.max(document.querySelector('.main')!.scrollTop, scrollY) < TOP_PX
const TOP_PX = 60

/** The same for a list: while its top is out of sight, or it is paused, nothing jumps. Returns how many new rows wait, and what shows them. */
export function useNewer(isMine: (change: Change) => boolean, reload: () => void): [many: number, show: () => void] {
  const [waiting, setWaiting] = useState<ReadonlySet<string>>(NONE)
  const show = () => {
    setWaiting(NONE)
    reload()
  }
  useChanges(isMine, show, ({ at, taskId, deliveryId }) =>
    setWaiting(before => new Set([...before, deliveryId ?? taskId ?? at])),
  )
  return [waiting.size, show]
}
const NONE: ReadonlySet<string> = new Set()

let saidAt = 0
let waiting: ReturnType<typeof setTimeout> | undefined

/** Says a sentence to who does not see the page: one in 5 s at most, the last of them. */
export function say(sentence: string): void {
  clearTimeout(waiting)
  const wait = Math.max(0, saidAt + SENTENCE_MS - Date.now())
  waiting = setTimeout(() => {
    saidAt = Date.now()
    said.set(sentence)
  }, wait)
}
