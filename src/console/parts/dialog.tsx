/** The question before something final. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Sheet } from './drawer.tsx'
import { type Refusal, Said } from './form.tsx'
import { Note } from './say.tsx'
import { Text } from './words.tsx'

interface DialogProps {
  /** The question, with the amount. */
  title: string
  /** The verb, with the amount. */
  act: string
  /** Rejects with the sentence of the refusal, which is shown here; nothing that was written is lost. */
  onAct: () => Promise<unknown>
  onClose: () => void
  isBad?: boolean
  children?: ComponentChildren
}

/** For what is final. Enter does it, Esc leaves. */
export function Dialog({ title, act, onAct, onClose, isBad, children }: DialogProps) {
  const [error, setError] = useState<Refusal>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    try {
      await onAct()
      onClose()
    } catch (thrown) {
      setError(thrown as Refusal)
      setBusy(false)
    }
  }
  return (
    <Sheet label={title} class="dlg" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <h2>
          <Text>{title}</Text>
        </h2>
        {error && (
          <Note tone="bad" icon="failed" alert>
            <Said of={error} />
          </Note>
        )}
        {children}
        <div class="row">
          <button type="submit" class={`b ${isBad ? 'bad-b' : 'main-b'}`} aria-disabled={isBusy}>
            {act} <kbd>↵</kbd>
          </button>
          <button type="button" class="b" onClick={onClose}>
            Back <kbd>Esc</kbd>
          </button>
        </div>
      </form>
    </Sheet>
  )
}
