/** The work that was delivered, version by version, and two versions beside each other or by their changed lines. */
import { useState } from 'preact/hooks'
import { api } from '../api.ts'
import { useData } from '../data.ts'
import { Segments } from '../parts/controls.tsx'
import { Sheet } from '../parts/drawer.tsx'
import { Card, Copy, Failed } from '../parts/say.tsx'
import { count, Text, Time } from '../parts/words.tsx'
import type { Task } from './next.tsx'

interface WorkProps {
  task: Pick<Task, 'id'>
  /** It is read anew when it changes. */
  version: string
}

export function Work({ task: { id }, version }: WorkProps) {
  const { data, error, reload } = useData(id, signal => api.listDeliverables({ id, limit: 100 }, { signal }), version)
  const [chosen, choose] = useState('')
  const [compares, setCompares] = useState(false)
  const all = data ? [...data.items].sort((a, b) => a.createdAt.localeCompare(b.createdAt)) : []
  if (error) return <Failed what="The work could not be read." error={error} again={reload} />
  const at = chosen ? Number(chosen) - 1 : all.length - 1
  const work = all[at]
  if (!work) return null
  return (
    <Card
      id="work"
      title="Work"
      beside={all.length > 1 && <Version all={all} label="Version" at={at} onChoose={choose} />}
      tools={
        <>
          {all.length > 1 && (
            <button type="button" class="b s" onClick={() => setCompares(true)}>
              Compare…
            </button>
          )}
          {work.content && <Copy text={work.content} label="the work" />}
        </>
      }
    >
      <div class="in stack r8">
        {work.content && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
          <section class="quote work" tabIndex={0} aria-label={`Work, version ${at + 1}`}>
            <Text>{work.content}</Text>
          </section>
        )}
        {work.notes && (
          <p class="qq">
            Notes: <Text>{work.notes}</Text>
          </p>
        )}
        {work.files.map(({ id: file, name }) => (
          <a
            key={file}
            class="link"
            href={`/api/tasks/${encodeURIComponent(id)}/files/${encodeURIComponent(file)}`}
            download
          >
            <Text>{name}</Text>
          </a>
        ))}
      </div>
      <footer>
        <span>
          {count(work.content?.length ?? 0, 'character')} as text, never as HTML, <Time at={work.createdAt} />
        </span>
      </footer>
      {compares && <Versions all={all} at={Math.max(1, at)} onClose={() => setCompares(false)} />}
    </Card>
  )
}

type All = readonly Awaited<ReturnType<typeof api.listDeliverables>>['items'][number][]

interface VersionProps {
  all: All
  label: string
  at: number
  onChoose: (version: string) => void
}

const Version = ({ all, label, at, onChoose }: VersionProps) => (
  <Segments
    label={label}
    value={String(at + 1)}
    choices={all.map((_, at) => ({ value: String(at + 1), word: String(at + 1) }))}
    onChoose={onChoose}
  />
)

const FORMS = [
  { value: 'lines', word: 'Changed lines' },
  { value: 'both', word: 'Side by side' },
] as const

/** Two of them, over the page: beside the lanes there is no room for two. */
function Versions({ all, at, onClose }: { all: All; at: number; onClose: () => void }) {
  const [pair, setPair] = useState([at - 1, at] as const)
  const [form, setForm] = useState<'lines' | 'both'>('lines')
  const [before, after] = pair.map(one => all[one]?.content ?? '') as [string, string]
  return (
    <Sheet label="Versions of the work" class="dlg versions stack" onClose={onClose}>
      <div class="row">
        <h2>Versions</h2>
        <Version all={all} label="The older one" at={pair[0]} onChoose={one => setPair([Number(one) - 1, pair[1]])} />
        <Version all={all} label="The newer one" at={pair[1]} onChoose={one => setPair([pair[0], Number(one) - 1])} />
        <Segments label="Show as" value={form} choices={FORMS} onChoose={setForm} />
        <button type="button" class="b s flat r" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      {form === 'both' ? (
        <div class="sides card">
          {[before, after].map((text, side) => (
            <section key={side}>
              <h3>Version {pair[side]! + 1}</h3>
              <p class="reading">
                <Text>{text}</Text>
              </p>
            </section>
          ))}
        </div>
      ) : (
        <ol class="diff" aria-label="Changed lines">
          {changesOf(before.split('\n'), after.split('\n')).map(({ mark, text }, line) => (
            <li key={line} class="v">
              {mark === '+' ? <ins>+ {text}</ins> : mark === '−' ? <del>− {text}</del> : text}
            </li>
          ))}
        </ol>
      )}
    </Sheet>
  )
}

interface Line {
  readonly mark: '+' | '−' | ''
  readonly text: string
}

/** Above it, all between the first and the last changed line counts as changed: the table has a cell for each pair of lines. */
const MOST_PAIRS = 4_000_000

/** The longest lines that both have stay; what stands between them was taken out or put in. */
function changesOf(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0
  while (start < before.length && before[start] === after[start]) start++
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++
  const [old, young] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  const same = (lines: readonly string[]): Line[] => lines.map(text => ({ mark: '', text }))
  return [
    ...same(before.slice(0, start)),
    ...(old.length * young.length > MOST_PAIRS ? replaced(old, young) : aligned(old, young)),
    ...same(before.slice(before.length - end)),
  ]
}

const replaced = (old: readonly string[], young: readonly string[]): Line[] => [
  ...old.map(text => ({ mark: '−' as const, text })),
  ...young.map(text => ({ mark: '+' as const, text })),
]

function aligned(old: readonly string[], young: readonly string[]): Line[] {
  const width = young.length + 1
  // How many lines both have from each pair on.
  const shared = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = young.length - 1; j >= 0; j--)
      shared[i * width + j] =
        old[i] === young[j]
          ? shared[(i + 1) * width + j + 1]! + 1
          : Math.max(shared[(i + 1) * width + j]!, shared[i * width + j + 1]!)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < old.length && j < young.length) {
    if (old[i] === young[j]) {
      lines.push({ mark: '', text: old[i]! })
      i++
      j++
    } else if (shared[(i + 1) * width + j]! >= shared[i * width + j + 1]!) lines.push({ mark: '−', text: old[i++]! })
    else lines.push({ mark: '+', text: young[j++]! })
  }
  return [...lines, ...replaced(old.slice(i), young.slice(j))]
}
