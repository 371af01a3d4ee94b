/** The head of a page: where it is, its title, one line of facts, what can be done. Its `h1` takes the focus after a way through the console. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { focus } from '../router.ts'
import { brand } from '../session.ts'
import { Text } from './words.tsx'

interface HeadProps {
  title: string
  /** Of the window, if it is another. */
  name?: string
  crumb?: ComponentChildren
  sub?: ComponentChildren
  acts?: ComponentChildren
}

export function Head({ title, name = title, crumb, sub, acts }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    if (!focus.isWanted) return
    focus.isWanted = false
    heading.current?.focus()
  })
  useLayoutEffect(() => {
    const { current } = heading
    // The head of what has loaded takes it over from that of what was loading.
    return () => {
      focus.isWanted ||= current !== null && document.activeElement === current
    }
  }, [])
  useEffect(() => {
    document.title = `${name} · ${brand.name}`
  }, [name])
  return (
    <div class="head">
      <div>
        {crumb && <p class="crumb">{crumb}</p>}
        <h1 tabIndex={-1} ref={heading}>
          <Text>{title}</Text>
        </h1>
        {sub && <div class="sub">{sub}</div>}
      </div>
      {acts && <div class="acts">{acts}</div>}
    </div>
  )
}
