/** Forms: labels above, help below, what is wrong in its place and once above. Nothing is lost by a refusal. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'
import { Note } from './say.tsx'
import { units } from './words.tsx'

/** A refusal: its sentence, and by field what is wrong. */
export interface Refusal extends Error {
  readonly errors?: Readonly<Record<string, string | readonly string[]>> | undefined
}

/** What is wrong with a field, in what is typed there: cents are amounts. */
function wordsOf(wrong: Refusal, field: string, id = field): string | undefined {
  const [words] = [wrong.errors?.[field] ?? []].flat()
  return document.querySelector<HTMLInputElement>(`[id="${id}"]`)?.inputMode === 'decimal'
    ? words?.replace(/\d[\d,]*/g, cents => units(Number(cents.replaceAll(',', ''))))
    : words
}

/** A dialog stands over a page that may have another of this name. */
const controlOf = (field: string) =>
  document.querySelector<HTMLElement>(`dialog [data-field="${field}"] [name]`) ?? document.getElementById(field)

const labelOf = (field: string) =>
  document.querySelector(`label[for="${controlOf(field)?.id}"]`)?.firstChild?.textContent ?? field

/** The sentence of a refusal. Where fields are wrong it is what is wrong with each. */
export function Said({ of: wrong }: { of: Refusal }) {
  const fields = Object.keys(wrong.errors ?? {})
  if (fields.length === 0) return <>{wrong.message}</>
  return (
    <>
      {fields.map(field => (
        <div key={field}>
          <a
            class="link"
            href={`#${field}`}
            onClick={event => {
              event.preventDefault()
              controlOf(field)?.focus()
            }}
          >
            {labelOf(field)}
          </a>{' '}
          {wordsOf(wrong, field, controlOf(field)?.id)}.
        </div>
      ))}
    </>
  )
}

interface FieldProps {
  id: string
  /** As errors name it, if the page has another of this name. */
  field?: string
  label: ComponentChildren
  help?: ComponentChildren
  wrong?: Refusal | undefined
  class?: string
  /** Gets what the control needs to be named by its help and its error. */
  children: (attributes: {
    id: string
    name: string
    'aria-describedby': string | undefined
    'aria-invalid': true | undefined
  }) => ComponentChildren
}

export function Field({ id, field = id, label, help, wrong, class: more = '', children }: FieldProps) {
  const error = wrong && wordsOf(wrong, field, id)
  const described = [error && `${id}-e`, help && `${id}-h`].filter(Boolean).join(' ') || undefined
  return (
    <div class={`field ${more}`} data-field={field}>
      <label for={id}>{label}</label>
      {children({ id, name: id, 'aria-describedby': described, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p class="err" id={`${id}-e`}>
          <Icon name="failed" />
          {error}
        </p>
      )}
      {help && (
        <p class="help" id={`${id}-h`}>
          {help}
        </p>
      )}
    </div>
  )
}

/** `what`: what was not done. The focus goes here, and its links go to the fields. */
export function Refused({ what, wrong }: { what: string; wrong: Refusal | undefined }) {
  const note = useRef<HTMLDivElement>(null)
  // At once: a moment later it would take the focus from who goes on writing.
  useLayoutEffect(() => {
    if (wrong) note.current?.focus()
  }, [wrong])
  if (!wrong) return null
  return (
    <div ref={note} tabIndex={-1}>
      <Note tone="bad" icon="failed" alert>
        <b>{what}</b> <Said of={wrong} />
      </Note>
    </div>
  )
}

/** What somebody writes stays, over a refusal, a sign-out and a reload of the page, until `forget`. */
export function useDraft<Fields extends Readonly<Record<string, string>>>(key: string, empty: Fields) {
  const name = `draft:${key}`
  const [fields, set] = useState<Fields>(() => {
    try {
      return { ...empty, ...JSON.parse(sessionStorage.getItem(name) ?? '{}') }
    } catch {
      return empty
    }
  })
  const change = (more: Partial<Fields>) => {
    const next = { ...fields, ...more }
    set(next)
    sessionStorage.setItem(name, JSON.stringify(next))
  }
  const typed = (event: { currentTarget: { name: string; value: string } }) =>
    change({ [event.currentTarget.name]: event.currentTarget.value } as Partial<Fields>)
  const forget = () => {
    sessionStorage.removeItem(name)
    set(empty)
  }
  return { fields, change, typed, forget }
}
