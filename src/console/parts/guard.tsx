/** What cannot be drawn, as an answer had another shape than it should, says so in its own place, and all else stays. */
import { Component, type ComponentChildren } from 'preact'
import { place } from '../router.ts'
import { Store } from '../store.ts'
import { Head } from './head.tsx'
import { Failed } from './say.tsx'

interface GuardProps {
  /** Of a whole page. */
  title?: string
  /** Where there is no room for words. */
  isQuiet?: boolean
  children: ComponentChildren
}

interface Caught {
  error?: Error | undefined
  /** Where it was caught: another place is drawn anew. */
  path?: string
}

/** How often somebody wanted it tried again. The whole page is drawn anew then: a part may show what its page has asked for. */
export const tries = new Store(0)
const tryAgain = () => tries.set(tries.value + 1)

export class Guard extends Component<GuardProps, Caught> {
  static override getDerivedStateFromError = (error: Error): Caught => ({ error, path: place.value.path })

  /** The browser writes it down, as what nobody has caught. */
  override componentDidCatch(error: Error): void {
    reportError(error)
  }

  override render({ title, isQuiet, children }: GuardProps, { error, path }: Caught) {
    if (!error || path !== place.value.path) return children
    if (isQuiet) return null
    return (
      <>
        {title && (
          <Head
            title={title}
            acts={
              <button type="button" class="b" onClick={() => history.back()}>
                Back
              </button>
            }
          />
        )}
        <Failed what="The answer could not be shown." error={error} again={tryAgain} />
      </>
    )
  }
}

/** What stands on a page side by side. */
export const Parts = ({ class: name, children }: { class: string; children: ComponentChildren[] }) => (
  <div class={name}>{children.map((part, at) => part && <Guard key={at}>{part}</Guard>)}</div>
)
