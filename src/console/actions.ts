/** What can be done now: each action has its line in the palette, and its key. */
import { useLayoutEffect, useRef } from 'preact/hooks'

export interface Action {
  readonly title: string
  /** One key, or two with a space between them. */
  readonly key?: string
  run(): void
  /** Why it cannot be done now: the palette shows it greyed. */
  readonly because?: string
  /** A key alone, as everybody knows it. */
  readonly isHidden?: boolean
}

interface Offer {
  current: readonly Action[]
}

/** What came last comes first: the page's before the shell's. */
let offers: readonly Offer[] = []

export const allActions = (): readonly Action[] => offers.flatMap(({ current }) => current)

/** Offers actions for as long as the component is there: from when it is seen, not some frames later. */
export function useActions(own: readonly Action[]): void {
  const offer = useRef(own)
  offer.current = own
  useLayoutEffect(() => {
    offers = [offer, ...offers]
    return () => {
      offers = offers.filter(one => one !== offer)
    }
  }, [])
}

/** Single keys can be switched off: they hinder who dictates. Source: WCAG 2.1.4. */
const keysAreOn = () => localStorage.getItem('keys') !== 'off'

const TYPING = 'input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]'
const SECOND_MS = 1500
let first: { key: string; at: number } | undefined

addEventListener('keydown', event => {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || !keysAreOn()) return
  if (!(event.target instanceof Element) || event.target.matches(TYPING) || event.target.closest('dialog')) return
  const before = first && event.timeStamp - first.at < SECOND_MS ? `${first.key} ` : ''
  first = undefined
  const all = allActions()
  const wanted = before + event.key
  const action = all.find(({ key, because }) => key === wanted && because === undefined)
  if (action) {
    event.preventDefault()
    action.run()
  } else if (all.some(({ key }) => key?.startsWith(`${event.key} `))) first = { key: event.key, at: event.timeStamp }
})
