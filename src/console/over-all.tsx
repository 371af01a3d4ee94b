/** Over every page: the palette of what can be done and gone to, and the sheet of keys. */
import { useMemo, useState } from 'preact/hooks'
import { type Action, allActions } from './actions.ts'
import { Sheet } from './parts/drawer.tsx'
import { Icon } from './parts/icons.tsx'
import { go } from './router.ts'

/** Ids that are addresses themselves. */
const IDS: readonly (readonly [RegExp, string])[] = [
  [/^task_\w+$/, '/tasks/'],
  [/^dlv_\w+$/, '/deliveries/'],
]

function found(all: readonly Action[], text: string): Action[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const byId: Action[] = IDS.filter(([form]) => form.test(text.trim())).map(([, path]) => ({
    title: `Open ${text.trim()}`,
    run: () => go(path + text.trim()),
  }))
  const some = all.filter(({ title }) => words.every(word => title.toLowerCase().includes(word)))
  return [...byId, ...some].sort((a, b) => Number(a.because !== undefined) - Number(b.because !== undefined))
}

/** Its list is no datalist. */
const COMBOBOX = { role: 'combobox', list: undefined, 'aria-expanded': true, 'aria-controls': 'commands' } as const

export function Palette({ onClose }: { onClose: () => void }) {
  // As they were when it was opened: what is behind it goes on.
  const all = useMemo(() => allActions().filter(({ isHidden }) => !isHidden), [])
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const some = found(all, text)
  const chosen = Math.min(at, some.length - 1)
  const run = (action: Action | undefined) => {
    if (!action || action.because !== undefined) return
    onClose()
    // After the sheet has given the focus back.
    setTimeout(action.run)
  }
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((chosen + step + some.length) % Math.max(1, some.length))
    else if (event.key === 'Enter') run(some[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Sheet label="Commands" class="pal" onClose={onClose}>
      <div class="in1">
        <Icon name="search" />
        <input
          type="search"
          {...COMBOBOX}
          aria-activedescendant={some.length > 0 ? `command-${chosen}` : undefined}
          aria-label="Find a command, a page, a task or a delivery"
          placeholder="Find a command, a page, or an id"
          onInput={event => {
            setText(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={walk}
        />
        <button type="button" class="b s flat" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      <div id="commands" role="listbox" aria-label="Commands" class="options">
        {some.map((action, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={`${action.title}${at}`}
            id={`command-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            aria-disabled={action.because !== undefined}
            onClick={() => run(action)}
          >
            {action.title} {action.because && <span class="q">{action.because}</span>}
            {action.key && <kbd>{action.key}</kbd>}
          </div>
        ))}
        {some.length === 0 && <p class="q in1">Nothing is called that.</p>}
      </div>
    </Sheet>
  )
}

const ALWAYS: readonly (readonly [string, string])[] = [
  ['j k', 'next, previous'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['/', 'filter'],
]

export function Keys({ onClose }: { onClose: () => void }) {
  const own = useMemo(
    () =>
      allActions().flatMap(({ key, title, because, isHidden }) =>
        key && because === undefined && !isHidden ? [[key, title] as const] : [],
      ),
    [],
  )
  return (
    <Sheet label="Keys" class="pal" onClose={onClose}>
      <div class="in1">
        <h2>Keys</h2>
        <button type="button" class="b s flat r" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      <dl class="sheet">
        {[...ALWAYS, ...own].map(([key, title]) => (
          <div key={`${key}${title}`}>
            <dt>
              {key.split(' ').map(one => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  )
}
