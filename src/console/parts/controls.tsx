/** Chips, segments, the filter field, the pager. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { count } from './words.tsx'

interface Choice<Value extends string> {
  readonly value: Value
  readonly word: string
  readonly icon?: IconName | 'draft'
  readonly many?: number | undefined
}

interface ChooseProps<Value extends string> {
  label: string
  value: Value
  choices: readonly Choice<Value>[]
  onChoose: (value: Value) => void
}

/** One of some, each with how many there are. */
export const Chips = <Value extends string>({ label, value, choices, onChoose }: ChooseProps<Value>) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend beside the label
  <div class="chips" role="group" aria-label={label}>
    {choices.map(choice => (
      <button
        key={choice.value}
        type="button"
        class="chip"
        aria-pressed={choice.value === value}
        onClick={() => onChoose(choice.value)}
      >
        {choice.icon && <Icon name={choice.icon} />}
        {choice.word}
        {choice.many !== undefined && <span class="n"> {choice.many.toLocaleString('en')}</span>}
      </button>
    ))}
  </div>
)

interface NewerProps {
  many: number
  onShow: () => void
}

/** Above a list: what has come since. */
export const Newer = ({ many, onShow }: NewerProps) =>
  many > 0 ? (
    <button
      type="button"
      class="b s news top-n"
      onClick={() => {
        document.querySelector('.main')!.scrollTop = 0
        scrollTo(0, 0)
        onShow()
      }}
    >
      {many.toLocaleString('en')} new
    </button>
  ) : null

/** One of few. */
export const Segments = <Value extends string>({ label, value, choices, onChoose }: ChooseProps<Value>) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend beside the label
  <div class="seg" role="group" aria-label={label}>
    {choices.map(choice => (
      <button
        key={choice.value}
        type="button"
        aria-pressed={choice.value === value}
        onClick={() => onChoose(choice.value)}
      >
        {choice.word}
      </button>
    ))}
  </div>
)

type Filters = Readonly<Record<string, string>>

/** What `agent:my-agent two words` asks for. A key that is none of `keys` is a word. */
function filtersIn(text: string, keys: readonly string[]): Filters {
  const found: Record<string, string> = {}
  const words: string[] = []
  for (const [part] of text.matchAll(/(?:[^\s"]|"[^"]*")+/g)) {
    const [, key = '', value = ''] = /^(\w+):(.*)$/.exec(part) ?? []
    if (keys.includes(key)) found[key] = value.replaceAll('"', '')
    else words.push(part)
  }
  return words.length > 0 ? { ...found, q: words.join(' ') } : found
}

const filterText = (filters: Filters, keys: readonly string[]): string =>
  [
    ...keys
      .filter(key => filters[key])
      .map(key => `${key}:${/\s/.test(filters[key]!) ? `"${filters[key]}"` : filters[key]}`),
    filters.q ?? '',
  ]
    .filter(Boolean)
    .join(' ')

interface FindProps {
  label: string
  placeholder: string
  filters: Filters
  keys?: readonly string[]
  onFilter: (filters: Filters) => void
}

/** Words and `key:value`. What is typed is the query of the address; what comes by another way, as by Back, is shown. */
export function Find({ label, placeholder, filters, keys = [], onFilter }: FindProps) {
  const input = useRef<HTMLInputElement>(null)
  const text = filterText(filters, keys)
  useEffect(() => {
    const { current } = input
    if (current && filterText(filtersIn(current.value, keys), keys) !== text) current.value = text
  }, [text])
  return (
    <div class="find">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={placeholder}
        defaultValue={text}
        onInput={event => onFilter(filtersIn(event.currentTarget.value, keys))}
      />
    </div>
  )
}

interface PagerProps {
  page: number
  limit: number
  /** What there is in all. Over 10,000 it is not counted on. */
  total: number
  hasMore: boolean
  onPage: (page: number) => void
}

export function Pager({ page, limit, total, hasMore, onPage }: PagerProps) {
  const first = (page - 1) * limit + 1
  const all = total > 10_000 ? '10,000+' : total.toLocaleString('en')
  return (
    <footer class="pager">
      <span class="n">
        {total === 0
          ? 'None'
          : `${first.toLocaleString('en')}–${Math.min(first + limit - 1, total).toLocaleString('en')} of ${all}`}
      </span>
      {(page > 1 || hasMore) && (
        <span class="r row">
          <button type="button" class="b s" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            Newer
          </button>
          <button type="button" class="b s" disabled={!hasMore} onClick={() => onPage(page + 1)}>
            Older
          </button>
        </span>
      )}
    </footer>
  )
}

export const Switch = ({
  label,
  on,
  onTurn,
  children,
}: {
  label?: string
  on: boolean
  onTurn: (on: boolean) => void
  children?: ComponentChildren
}) => (
  <label class="row nw">
    <input
      type="checkbox"
      class="sw"
      role="switch"
      aria-checked={on}
      aria-label={label}
      checked={on}
      onChange={event => onTurn(event.currentTarget.checked)}
    />
    {children}
  </label>
)

const WORDS = ['failed', 'delivered'] as const

/** A mark for each of the last six attempts, and how many came before them. */
export function Attempts({ results, total = results.length }: { results: readonly boolean[]; total?: number }) {
  const last = results.slice(-6)
  const words = `${count(total, 'attempt')}: ${last.map(isDone => WORDS[Number(isDone)]).join(', ')}`
  if (total === 0) return <span class="q">none</span>
  return (
    <>
      {total > last.length && <span class="q n">{total} </span>}
      <span class="dots" role="img" aria-label={words}>
        {last.map((isDone, at) => (
          <Icon key={at} name={isDone ? 'tick' : 'cross'} class={isDone ? 'ok' : 'bad'} />
        ))}
      </span>
    </>
  )
}

const ROUND = 72.26

/** How long the last test of an agent still counts: a full turn is 24 hours. Its words stand beside it. */
export const Ring = ({ share, tone }: { share: number; tone: string }) => (
  <svg width="30" height="30" viewBox="0 0 30 30" class={`ring ${tone}`} aria-hidden="true">
    <circle cx="15" cy="15" r="11.5" class="bg" />
    {share > 0 && (
      <circle
        cx="15"
        cy="15"
        r="11.5"
        class="fg"
        stroke-dasharray={`${ROUND * Math.min(1, share)} 80`}
        transform="rotate(-90 15 15)"
      />
    )}
  </svg>
)

export interface Share {
  readonly name: 'available' | 'held' | 'clearing' | 'paid'
  readonly cents: number
}

/** Shares of an amount, side by side. `label` says them in words. */
export function ShareBar({ label, shares, height = 12 }: { label: string; shares: readonly Share[]; height?: number }) {
  const whole = shares.reduce((sum, share) => sum + share.cents, 0)
  let from = 0
  return (
    <svg class="splitbar" height={height} role="img" aria-label={label}>
      <rect class="z" width="100%" height={height} />
      {shares.map(({ name, cents }) => {
        const x = from
        const width = whole > 0 ? (cents / whole) * 100 : 0
        from += width
        return width > 0 ? (
          <rect key={name} class={name} x={`${x}%`} width={`${Math.max(width - 0.4, 0.3)}%`} height={height} />
        ) : null
      })}
    </svg>
  )
}

/** The fields that have a value: what is empty is not asked for. */
export const given = <Fields extends Readonly<Record<string, string>>>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], ''>
  }
