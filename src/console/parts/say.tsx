/** What a part of a page says of itself: that it is empty, loads, or could not be read; and commands to type. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { Mark, type Tone } from './states.tsx'
import { Text } from './words.tsx'

/** A button that copies, and says so for a moment. `label`: what is copied. */
export function Copy({
  text,
  label,
  children,
}: {
  text: string | (() => string)
  label: string
  children?: ComponentChildren
}) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    const timer = isDone ? setTimeout(() => setDone(false), 2000) : 0
    return () => clearTimeout(timer)
  }, [isDone])
  const copy = () => navigator.clipboard?.writeText(typeof text === 'string' ? text : text()).then(() => setDone(true))
  return (
    <button
      type="button"
      class={children ? 'b s' : 'copy'}
      onClick={copy}
      aria-label={children ? undefined : `Copy ${label}`}
    >
      <Icon name={isDone ? 'tick' : 'copy'} />
      {children}
      {isDone && (
        <span class="vh" role="status">
          Copied
        </span>
      )}
    </button>
  )
}

/** An id, cut in the middle; the whole is copied. */
export const Id = ({ of, label = 'the id' }: { of: string; label?: string }) => (
  <>
    <span class="id" title={of}>
      {of.length > 20 ? `${of.slice(0, 8)}…${of.slice(-4)}` : of}
    </span>
    <Copy text={of} label={label} />
  </>
)

/** A command to type. */
export const Command = ({ children }: { children: string }) => (
  <div class="cmd">
    <span class="q" aria-hidden="true">
      $
    </span>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
    <code tabIndex={0}>{children}</code>
    <Copy text={children} label="the command" />
  </div>
)

export const Note = ({
  tone,
  icon,
  alert,
  children,
}: {
  tone: Tone
  icon: IconName
  alert?: boolean
  children: ComponentChildren
}) => (
  <div class={`note ${tone}`} role={alert ? 'alert' : undefined}>
    <Icon name={icon} />
    <div class="grow">{children}</div>
  </div>
)

/** What would be here, when, and the command that makes it come. */
export const Empty = ({
  title,
  command,
  children,
}: {
  title?: string
  command?: string | undefined
  children: ComponentChildren
}) => (
  <div class="empty">
    {title && <b>{title}</b>}
    {children}
    {command && <Command>{command}</Command>}
  </div>
)

/** What failed, why, what next, and which request it was. */
export function Failed({ what, error, again }: { what: string; error: unknown; again?: () => void }) {
  const { message, requestId } = error as Error & { requestId?: string }
  return (
    <Note tone="bad" icon="failed" alert>
      <b>{what}</b> {message}
      <div class="row">
        {again && (
          <button type="button" class="b s" onClick={again}>
            Try now
          </button>
        )}
        {requestId && <span class="q m">request {requestId}</span>}
      </div>
    </Note>
  )
}

const WIDTHS = ['w75', 'w40', 'w75', 'w25']

/** Lines of the height of what comes. They show after 150 ms (by the style), so that what is fast does not flicker. */
export const Loading = ({ lines = 4 }: { lines?: number }) => (
  <ul class="lines late" aria-busy="true" aria-label="Loading">
    {Array.from({ length: lines }, (_, at) => (
      <li key={at}>
        <span class={`sk ${WIDTHS[at % WIDTHS.length]}`} />
      </li>
    ))}
  </ul>
)

/** A panel with a heading. `tools` stand at its right. */
export function Card({
  id,
  title,
  beside,
  tools,
  children,
}: {
  id: string
  title: ComponentChildren
  beside?: ComponentChildren
  tools?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {beside}
        {tools && <span class="r row">{tools}</span>}
      </header>
      {children}
    </section>
  )
}

/** What went wrong, what shows it or helps beside, and how to mend it. */
export const Diagnosis = ({
  of: { text, fix },
  children,
}: {
  of: { text: string; fix?: string | null }
  children?: ComponentChildren
}) => (
  <div class="in stack r8">
    <h3>
      <Mark tone="bad" icon="doctor">
        What went wrong
      </Mark>
    </h3>
    <p>
      <Text>{text}</Text>
    </p>
    {fix && (
      <p>
        <b>To mend it:</b> <Text>{fix}</Text>
      </p>
    )}
    {children}
  </div>
)
