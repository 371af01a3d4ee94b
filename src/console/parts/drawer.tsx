/** What is chosen in a list: beside it where there is room, else over it, as a sheet. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

export function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('screen and (max-width: 64rem)'))
  const [isNarrow, setNarrow] = useState(query.matches)
  useEffect(() => {
    const change = () => setNarrow(query.matches)
    query.addEventListener('change', change)
    return () => query.removeEventListener('change', change)
  }, [query])
  return isNarrow
}

/** A sheet over the page: it keeps the focus, Esc closes it, and the focus goes back. */
export function Sheet({
  label,
  class: more,
  onClose,
  children,
}: {
  label: string
  class: string
  onClose: () => void
  children: ComponentChildren
}) {
  const sheet = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current } = sheet
    current?.showModal()
    // What it proposes gives way to what is typed.
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.select()
    return () => current?.close()
  }, [])
  return (
    <dialog
      ref={sheet}
      class={more}
      aria-label={label}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
    >
      {children}
    </dialog>
  )
}

interface DrawerProps {
  title: ComponentChildren
  label: string
  onClose: () => void
  children: ComponentChildren
}

export function Drawer({ title, label, onClose, children }: DrawerProps) {
  const content = (
    <>
      <header>
        <h2>{title}</h2>
        <button type="button" class="b s flat r" aria-label="Close" aria-keyshortcuts="Escape" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </>
  )
  if (useNarrow())
    return (
      <Sheet label={label} class="card drawer over" onClose={onClose}>
        {content}
      </Sheet>
    )
  return (
    <aside
      class="card drawer"
      aria-label={label}
      onKeyDown={event => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose()
        document.querySelector<HTMLElement>('[data-list] .go[tabindex="0"]')?.focus()
      }}
    >
      {content}
    </aside>
  )
}

/** A part of a drawer that folds. How somebody left it is remembered, by its name. */
export function Section({
  name,
  beside,
  isOpen = true,
  children,
}: {
  name: string
  beside?: ComponentChildren
  isOpen?: boolean
  children: ComponentChildren
}) {
  const key = `fold:${name}`
  const [open] = useState(() => (localStorage.getItem(key) ?? (isOpen ? 'open' : '')) === 'open')
  return (
    <details
      class="sect"
      open={open}
      onToggle={event => localStorage.setItem(key, event.currentTarget.open ? 'open' : 'shut')}
    >
      <summary>
        <Icon name="chevron" class="chev" />
        {name}
        {beside && <span class="q r n">{beside}</span>}
      </summary>
      <div class="in stack">{children}</div>
    </details>
  )
}
