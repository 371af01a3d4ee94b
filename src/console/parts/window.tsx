/** Long lists: only the rows in sight are made, and room for the others. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks'
import { Store, useStore } from '../store.ts'

/** All rows are made up to so many. */
const WHOLE = 200
/** Rows are made so many pixels beyond the window. */
const BEYOND = 800

/** On paper nobody scrolls. */
const onPaper = new Store(false)
addEventListener('beforeprint', () => onPaper.set(true))
addEventListener('afterprint', () => onPaper.set(false))
matchMedia('print').addEventListener('change', ({ matches }) => onPaper.set(matches))

/**
 * Which rows of a long list to make, and how many pixels the others take: each as many as when it was last seen, or as many as the first ones
 * on the average. `open`: the key of a row that is to be in sight.
 */
export function useWindow(keys: readonly string[], list: RefObject<HTMLElement | null>, rows: string, open?: string) {
  const [, look] = useReducer((times: number) => times + 1, 0)
  const isWhole = useStore(onPaper) || keys.length <= WHOLE
  const { current: known } = useRef({
    heights: new Map<string, number>(),
    usual: 0,
    width: 0,
    opened: undefined as string | undefined,
    /** The key of the row that is to come into sight. */
    wanted: undefined as string | undefined,
  })
  const { current: made } = useRef({ from: 0, to: 0, before: 0, end: 0 })
  /** Whether a place that is about to come into sight has no rows yet. */
  const isShort = () =>
    (made.from > 0 && top() + made.before > -BEYOND / 2) ||
    (made.to < keys.length && top() + made.end < innerHeight + BEYOND / 2)
  const top = () => (list.current ? list.current.getBoundingClientRect().top - list.current.scrollTop : 0)
  useEffect(() => {
    if (isWhole) return
    let frame = 0
    const soon = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0
        if (isShort()) look(undefined)
      })
    }
    const watch = new ResizeObserver(soon)
    if (list.current) watch.observe(list.current)
    document.addEventListener('scroll', soon, { capture: true, passive: true })
    return () => {
      cancelAnimationFrame(frame)
      watch.disconnect()
      document.removeEventListener('scroll', soon, { capture: true })
    }
  }, [isWhole, keys.length])
  useLayoutEffect(() => {
    const { current } = list
    if (!current) return
    const all = current.querySelectorAll(rows)
    if (open !== known.opened) known.opened = known.wanted = open
    show(all, !isWhole && measure(current.clientWidth, all))
  })
  /** In another width words take other lines, and all rows have other places: then what is in sight stays so. Returns whether places are about to change. */
  const measure = (width: number, all: NodeListOf<Element>): boolean => {
    const { heights } = known
    if (width !== known.width || heights.size > 2 * keys.length) heights.clear()
    for (let at = 0; at < all.length; at++) heights.set(keys[made.from + at]!, all[at]!.getBoundingClientRect().height)
    // Rows that are lower than was thought leave a place empty, and no scrolling may follow that would fill it.
    made.end = made.before
    for (const key of keys.slice(made.from, made.to)) made.end += heightOf(key)
    // What is not shown has no height.
    const isLacking = made.end > made.before && isShort()
    if (isLacking) look(undefined)
    if (width === known.width || all.length === 0) return isLacking
    if (top() < 0) known.wanted ??= keys[made.from + [...all].findIndex(row => row.getBoundingClientRect().bottom > 0)]
    known.width = width
    known.usual = [...heights.values()].reduce((sum, height) => sum + height, 0) / heights.size
    look(undefined)
    return true
  }
  /** `isMoving`: its place is about to change. */
  const show = (all: NodeListOf<Element>, isMoving: boolean) => {
    const at = known.wanted === undefined ? -1 : keys.indexOf(known.wanted)
    if (at < 0) return
    const row = all[at - made.from]
    if (row) {
      row.scrollIntoView({ block: 'nearest' })
      if (!isMoving) known.wanted = undefined
      return
    }
    let y = top() - innerHeight / 2
    for (const key of keys.slice(0, at)) y += heightOf(key)
    scrollerOf(list.current!)?.scrollBy(0, y)
  }
  const heightOf = (key: string) => known.heights.get(key) ?? (known.usual || 28)
  Object.assign(made, { from: 0, to: keys.length, before: 0, end: 0 })
  if (isWhole) return { ...made, after: 0 }
  const y = top()
  while (made.from < keys.length && y + made.before + heightOf(keys[made.from]!) < -BEYOND)
    made.before += heightOf(keys[made.from++]!)
  made.to = made.from
  made.end = made.before
  while (made.to < keys.length && y + made.end < innerHeight + BEYOND) made.end += heightOf(keys[made.to++]!)
  let after = 0
  for (let at = made.to; at < keys.length; at++) after += heightOf(keys[at]!)
  return { ...made, after }
}

/** By the width of the window and the list it is one or another. */
const scrollerOf = (list: Element) =>
  [list, list.closest('.main')].find(one => one && getComputedStyle(one).overflowY === 'auto') ??
  document.scrollingElement

/** In place of rows of a list that are not made. A number alone is no length to Preact. */
export const Room = ({ height }: { height: number }) => <li style={{ height: `${height}px` }} aria-hidden="true" />

/** The same in a table. */
export const Space = ({ height, columns }: { height: number; columns: number }) => (
  <tr>
    <td colSpan={columns} height={height} />
  </tr>
)
