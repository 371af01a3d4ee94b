/** What a page reads: asked when it is drawn, and again when it is told to. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { MarketplaceError } from '../client/client.ts'

interface State<T> {
  readonly of: string
  /** The last that came; it stays while a newer one is asked for, or cannot be had. */
  readonly data: T | undefined
  readonly error: unknown
  readonly isLoading: boolean
}

export type Loaded<T> = Omit<State<T>, 'of'> & { reload(): void }

/**
 * `of` names what is asked for: with another one, nothing of the last stays. With another `again` it is asked anew, and the last stays until the
 * next is there. What comes late, after the page is left, is dropped. What takes long may tell what there is so far. Where too much was asked for,
 * it is asked again when the marketplace says, without a word if something is shown meanwhile.
 */
export function useData<T>(
  of: string,
  ask: (signal: AbortSignal, soFar: (data: T) => void) => Promise<T>,
  again: unknown = 0,
): Loaded<T> {
  const none: State<T> = { of, data: undefined, error: undefined, isLoading: true }
  const [kept, keep] = useState(none)
  const [turn, setTurn] = useState(0)
  const state = kept.of === of ? kept : none
  const reload = useCallback(() => setTurn(one => one + 1), [])
  useEffect(() => {
    const abort = new AbortController()
    let waiting: ReturnType<typeof setTimeout> | undefined
    const tell = (part: Partial<State<T>>) => {
      if (!abort.signal.aborted) keep(last => ({ ...(last.of === of ? last : none), ...part }))
    }
    tell({ isLoading: true })
    ask(abort.signal, data => tell({ data })).then(
      data => tell({ data, error: undefined, isLoading: false }),
      error => {
        const ms = (error as Partial<MarketplaceError>).retryAfterMs
        if (ms !== undefined && !abort.signal.aborted) waiting = setTimeout(reload, ms)
        if (ms === undefined || state.data === undefined) tell({ error, isLoading: false })
      },
    )
    return () => {
      clearTimeout(waiting)
      abort.abort()
    }
  }, [of, turn, again])
  return { ...state, reload }
}
