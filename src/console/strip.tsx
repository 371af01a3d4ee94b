/** The strip below each page: whether it is live, the clock of the market, what is due next, and whether the ledger adds up. */
import { useEffect } from 'preact/hooks'
import { api } from './api.ts'
import { useData } from './data.ts'
import { live, pause, paused, useChanges } from './live.ts'
import { Guard } from './parts/guard.tsx'
import { Icon } from './parts/icons.tsx'
import { Age, marketClock, span, Text, timeIn, useTicks } from './parts/words.tsx'
import { href } from './router.ts'
import { isDev, me } from './session.ts'
import { useStore } from './store.ts'

interface StripProps {
  onOver: (over: 'Palette' | 'Keys') => void
  onTheme: () => void
}

export function Strip({ onOver, onTheme }: StripProps) {
  return (
    <footer class="strip">
      <span>
        <LiveButton />
      </span>
      {isDev ? (
        <Guard isQuiet>
          <Market />
        </Guard>
      ) : (
        <span class="q p2">{location.host}</span>
      )}
      <span class="r p2">
        <button type="button" aria-label="Light or dark" onClick={onTheme}>
          <Icon name="moon" />
        </button>
      </span>
      <span>
        <button type="button" onClick={() => onOver('Palette')}>
          Commands <kbd>.</kbd>
        </button>
        <button type="button" class="p2" onClick={() => onOver('Keys')}>
          Keys <kbd>?</kbd>
        </button>
      </span>
    </footer>
  )
}

function LiveButton() {
  const { is, since } = useStore(live)
  const left = useStore(paused)
  const [tone, words] =
    left !== null
      ? (['mute', left > 0 ? `Paused, ${left} new` : 'Paused'] as const)
      : is === 'live'
        ? (['ok', 'Live'] as const)
        : is === 'polling'
          ? (['wait', `Polling each 2 s since ${timeIn(since)}`] as const)
          : (['mute', 'Connecting'] as const)
  return (
    <button type="button" aria-pressed={left !== null} onClick={pause}>
      <span class={`live ${tone}`} />
      <b>{words}</b>
      <Icon name={left === null ? 'pause' : 'play'} />
      <span class="vh">{left === null ? 'Pause' : 'Go on'}</span>
    </button>
  )
}

const AGAIN_MS = 15_000

function Market() {
  const { data, reload } = useData('status', signal => api.getDevStatus({}, { signal }))
  const user = useStore(me)
  useChanges(() => true, reload)
  useTicks(1000)
  useEffect(() => {
    const timer = setInterval(reload, AGAIN_MS)
    return () => clearInterval(timer)
  }, [])
  if (!data) return null
  const { clock, ledger } = data
  marketClock.offsetMs = clock.offsetMs
  const next = clock.next
  // The others have no such page.
  const toClock = user?.isAdmin && { href: href('/clock') }
  return (
    <>
      <span class="p3">
        <a {...toClock}>
          Market time <b class="n">{timeIn(marketClock.now(), marketClock.now())}</b>{' '}
          <span class="q">
            {Math.abs(clock.offsetMs) < 1000 ? 'as real time' : `${span(Math.abs(clock.offsetMs))} ahead`}
          </span>
        </a>
      </span>
      {next && (
        <span class="p2">
          <a {...toClock}>
            <Icon name="hour" />
            Next:{' '}
            <b>
              <Text>{next.title ?? next.about ?? next.kind}</Text>
            </b>{' '}
            <span class="q n">
              <Age at={next.at} />
            </span>
          </a>
        </span>
      )}
      <span class="p3">
        <a href={href('/wallet')}>
          <Icon name="scales" />
          Ledger <b class={ledger.ok ? 'ok ink' : 'bad ink'}>{ledger.ok ? 'adds up' : 'does not add up'}</b>
        </a>
      </span>
    </>
  )
}
