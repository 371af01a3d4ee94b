/** The word after something is done. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Mark, type Tone } from './states.tsx'

interface ToastSaid {
  tone: Tone
  /** What was done, or not. */
  word: string
  text: ComponentChildren
  link?: { href: string; word: string }
}

let show: (said: ToastSaid) => void = () => {}

/** Says what was done. One at a time: the next takes its place. */
export const toast = (said: ToastSaid): void => show(said)

const STAYS_MS = 6000
const ICONS = { ok: 'check', bad: 'failed', wait: 'warning', run: 'half', give: 'give', mute: 'dash' } as const

/** Stands once, in the shell. It stays while somebody is at it, and until it is closed if it is bad. */
export function Toasts() {
  const [said, setSaid] = useState<ToastSaid>()
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    show = next => setSaid(next)
    return () => {
      show = () => {}
    }
  }, [])
  useEffect(() => {
    if (!said || isHeld || said.tone === 'bad') return
    const timer = setTimeout(() => setSaid(undefined), STAYS_MS)
    return () => clearTimeout(timer)
  }, [said, isHeld])
  return (
    <div
      class="toasts"
      role="status"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusCapture={() => setHeld(true)}
      onBlurCapture={() => setHeld(false)}
    >
      {said && (
        <div class="toast">
          <Mark tone={said.tone} icon={ICONS[said.tone]}>
            {said.word}
          </Mark>
          <bdi>{said.text}</bdi>
          {said.link && (
            <a class="b s flat" href={said.link.href} onClick={() => setSaid(undefined)}>
              {said.link.word}
            </a>
          )}
          <button type="button" class="b s flat" onClick={() => setSaid(undefined)}>
            Close
          </button>
        </div>
      )}
    </div>
  )
}

/** Does it, or says the sentence of the refusal. undefined: refused. */
export async function tried<T>(refused: string, act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    toast({ tone: 'bad', word: refused, text: (error as Error).message })
    return undefined
  }
}
