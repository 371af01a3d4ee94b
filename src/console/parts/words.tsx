/** Words that people wrote, and amounts, times and names: how each is shown. */
import { useEffect, useState } from 'preact/hooks'

/** Control and direction characters, which would hide or turn what stands beside them. Line ends and tabs are none. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSEEN = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff])/u

/** Text by somebody: characters that are not seen are shown by their number. */
export function Text({ children }: { children: string }) {
  if (!UNSEEN.test(children)) return <bdi dir="auto">{children}</bdi>
  return (
    <bdi dir="auto">
      {children
        .split(UNSEEN)
        .map((part, at) =>
          at % 2 === 0 ? (
            part
          ) : (
            <span class="tag mute">U+{part.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}</span>
          ),
        )}
    </bdi>
  )
}

/** Cents as units: `1,000.00`. */
export function units(cents: number): string {
  const [whole, rest] = (Math.abs(cents) / 100).toFixed(2).split('.')
  return `${whole!.replace(/\B(?=(\d{3})+$)/g, ',')}.${rest}`
}

/** The cents in what somebody has typed; null: no amount. */
export function centsIn(text: string): number | null {
  const found = /^\s*(\d{1,9})(?:[.,](\d{1,2}))?\s*$/.exec(text)
  return found ? Number(found[1]) * 100 + Number((found[2] ?? '').padEnd(2, '0')) : null
}

/** `sign`: which way it goes for the reader. */
export const Money = ({
  cents,
  sign,
  tone = '',
}: {
  cents: number
  sign?: '+' | '−'
  tone?: 'in' | 'held' | 'q' | ''
}) => (
  <span class={`amt ${tone}`}>
    {sign && cents !== 0 && `${sign} `}
    {units(cents)}
  </span>
)

const two = (count: number) => String(count).padStart(2, '0')
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `22:49:08` on the day of `now`, else `23 Nov 22:49`. `ms`: to the millisecond. */
export function timeIn(at: string | number, now = Date.now(), ms = false): string {
  const time = new Date(at)
  const minute = `${two(time.getHours())}:${two(time.getMinutes())}`
  if (time.toDateString() !== new Date(now).toDateString()) {
    const year = time.getFullYear() === new Date(now).getFullYear() ? '' : ` ${time.getFullYear()}`
    return `${time.getDate()} ${MONTHS[time.getMonth()]}${year} ${minute}`
  }
  const second = `${minute}:${two(time.getSeconds())}`
  return ms ? `${second}.${String(time.getMilliseconds()).padStart(3, '0')}` : second
}

const STEPS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/** A duration in its largest unit, or in its two largest where there are days or hours: `1 h 9 min`. */
export function span(ms: number): string {
  const first = STEPS.findIndex(([size]) => ms >= size)
  if (first < 0) return '0 s'
  const [size, unit] = STEPS[first]!
  const count = Math.floor(ms / size)
  const next = first < 2 ? STEPS[first + 1] : undefined
  const more = next ? Math.floor((ms % size) / next[0]) : 0
  return `${count} ${unit}${more > 0 ? ` ${more} ${next![1]}` : ''}`
}

/** Renders again each 15 s. Nothing is announced. */
export function useTicks(everyMs = 15_000): void {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick(count => count + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}

/** Market time differs from the browser's clock where somebody has moved it: so many ms. Set by the shell. */
export const marketClock = { offsetMs: 0, now: () => Date.now() + marketClock.offsetMs }

export const Time = ({ at, ms = false }: { at: string | number; ms?: boolean }) => {
  const iso = new Date(at).toISOString()
  return (
    <time datetime={iso} title={iso}>
      {timeIn(at, marketClock.now(), ms)}
    </time>
  )
}

/** `2 min ago`, `in 4 s`. */
export function Age({ at, bare = false }: { at: string | number; bare?: boolean }) {
  useTicks()
  const iso = new Date(at).toISOString()
  const ms = marketClock.now() - Date.parse(iso)
  const words = Math.abs(ms) < 1000 ? 'now' : bare ? span(Math.abs(ms)) : ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`
  return (
    <time datetime={iso} title={iso}>
      {words}
    </time>
  )
}

/** `19,204 bytes`. */
export const count = (many: number, one: string, several = `${one}s`) =>
  `${String(many).replace(/\B(?=(\d{3})+$)/g, ',')} ${many === 1 ? one : several}`

const GROUNDS = ['run', 'give', 'mute', 'wait', 'ok', 'acc']

/** Initials on a ground by the id: nobody's picture is loaded. */
export function Avatar({ id, name, large, round }: { id: string; name: string; large?: boolean; round?: boolean }) {
  let sum = 0
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0
  const words = name.split(/[\s\-_.]+/).filter(Boolean)
  const first = [...(words[0] ?? '?')]
  const second = words[1] ? [...words[1]][0]! : (first[1] ?? '')
  return (
    <span class={`av ${GROUNDS[sum % GROUNDS.length]}${large ? ' l' : ''}${round ? ' p' : ''}`} aria-hidden="true">
      {`${first[0]}${second}`.toUpperCase()}
    </span>
  )
}
