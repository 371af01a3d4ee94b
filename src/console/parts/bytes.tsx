/** The bytes of a body: as lines, as they came, or by number. Nodes are made of them, never HTML. */
import { useMemo, useState } from 'preact/hooks'
import { Segments } from './controls.tsx'
import { Text } from './words.tsx'

const AT_ONCE = 64 * 1024
const MORE = 512 * 1024

export interface Body {
  readonly encoding: 'text' | 'base64'
  readonly content: string
  readonly bytes: number
  readonly cut: boolean
}

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null|[{[]\s*[}\]])|([{}[\],])|\s+/g

interface Part {
  readonly kind: 's' | 'p' | 'd' | 'q'
  readonly text: string
}

/** Breaks JSON into lines. Its text stays as it is: a doubled key and a long number too. null: it is no JSON. */
function linesOf(text: string): Part[] | null {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  const parts: Part[] = []
  let depth = 0
  const put = (kind: Part['kind'], more: string) => parts.push({ kind, text: more })
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [, string, colon, value, sign] of text.matchAll(TOKEN)) {
    if (string !== undefined) {
      put(colon === undefined ? 's' : 'p', string)
      if (colon !== undefined) put('q', ': ')
    } else if (value !== undefined) put('d', value)
    else if (sign === ',') put('q', `,${line()}`)
    else if (sign === '{' || sign === '[') {
      depth++
      put('q', `${sign}${line()}`)
    } else if (sign) {
      depth--
      put('q', `${line()}${sign}`)
    }
  }
  return parts
}

const bytesOf = ({ encoding, content }: Body): Uint8Array =>
  encoding === 'text' ? new TextEncoder().encode(content) : Uint8Array.from(atob(content), char => char.charCodeAt(0))

function hexOf(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)]
    const hex = row.map(byte => byte.toString(16).padStart(2, '0')).join(' ')
    const seen = row.map(byte => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${seen}`)
  }
  return lines.join('\n')
}

type Form = 'lines' | 'raw' | 'hex'

const FORMS = [
  { value: 'lines', word: 'Lines' },
  { value: 'raw', word: 'Raw' },
  { value: 'hex', word: 'Hex' },
] as const

/** `label`: whose bytes these are. */
export function Bytes({ label, body }: { label: string; body: Body }) {
  const [form, setForm] = useState<Form>(body.encoding === 'text' ? 'lines' : 'hex')
  const [most, setMost] = useState(AT_ONCE)
  const text = body.encoding === 'text' ? body.content : ''
  const shown = useMemo(() => {
    if (form === 'hex' || body.encoding !== 'text') return hexOf(bytesOf(body).subarray(0, Math.ceil(most / 4)))
    const lines = form === 'lines' && text.length <= most ? linesOf(text) : null
    if (!lines) return <Text>{text.slice(0, most)}</Text>
    return lines.map((part, at) => (
      <span key={at} class={part.kind}>
        <Text>{part.text}</Text>
      </span>
    ))
  }, [form, most, body, text])
  const isCut = form === 'hex' ? body.bytes > most / 4 : text.length > most
  if (body.bytes === 0) return <p class="q">No body</p>
  return (
    <>
      <Segments label="Show the body as" value={form} choices={FORMS} onChoose={setForm} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section class="raw" tabIndex={0} aria-label={label}>
        <pre>{shown}</pre>
      </section>
      {isCut && (
        <button type="button" class="b s" onClick={() => setMost(most + MORE)}>
          Show more
        </button>
      )}
      {body.cut && <p class="q">Only the beginning is kept, of {body.bytes.toLocaleString('en')} bytes.</p>}
    </>
  )
}

interface Header {
  readonly name: string
  readonly value: string
}

const SIGNED = /^(?:x-service-(?:timestamp|signature)|webhook-(?:id|timestamp|signature))$/i

/** Headers, with those of the signature marked. */
export const Headers = ({ headers }: { headers: readonly Header[] }) => (
  <dl class="kv">
    {headers.map(({ name, value }, at) => (
      <div key={at}>
        <dt>{name}</dt>
        <dd>
          <span class={SIGNED.test(name) ? 'hot' : undefined}>
            <Text>{value}</Text>
          </span>
        </dd>
      </div>
    ))}
  </dl>
)
