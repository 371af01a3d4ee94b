/** Fields of forms, what was wrong with them, and where a form leads. */
import type { Refusal } from '../../api/failures.ts'
import { type Html, html } from '../../shared/html.ts'
import { icon } from './icons.ts'
import { note } from './layout.ts'

/** What was typed. */
export type Typed = Readonly<Record<string, string | undefined>>

export interface Form {
  readonly typed: Typed
  readonly refusal: Refusal | null
}

interface Field {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'textarea'
  /** What the field is called in the interface, if it has another name there. */
  readonly field?: string
  readonly help?: Html | string
  readonly length?: readonly [number, number]
  readonly isOptional?: boolean
  readonly complete?: string
  readonly inputmode?: string
}

export function field({ typed, refusal }: Form, given: Field): Html {
  const { name, label, type = 'text', field: asked = name, help, length, isOptional, complete, inputmode } = given
  const faults = refusal?.errors?.[asked]
  const described = faults
    ? html` aria-invalid="true" aria-describedby="${name}-e"`
    : help && html` aria-describedby="${name}-h"`
  const bounds = length && html`${length[0] > 0 && html` minlength="${length[0]}"`} maxlength="${length[1]}"`
  const shared = html`id="${name}" name="${name}"${!isOptional && html` required`}${bounds}${described}${complete && html` autocomplete="${complete}"`}`
  // A password is never sent back.
  const value = type === 'password' ? '' : (typed[name] ?? '')
  const control =
    type === 'textarea'
      ? html`<textarea ${shared} rows="${isOptional ? 3 : 6}" dir="auto">\n${value}</textarea>`
      : html`<input type="${type}" ${shared}${inputmode && html` inputmode="${inputmode}"`} value="${value}">`
  return html`<div class="field"><label for="${name}">${label}${isOptional && html` <span class="q">may be left out</span>`}</label>${control}${help && html`<p class="help" id="${name}-h">${help}</p>`}${faults && html`<p class="err" id="${name}-e">${icon('failed')}It ${faults.join('; ')}.</p>`}</div>`
}

/** By the name that a field has in the interface: its own, and its label. */
export type Fields = Readonly<Record<string, readonly [name: string, label: string]>>

/** Once above the form: what went wrong, with links to the fields. */
export function faultsOf({ refusal }: Form, fields: Fields): Html | false {
  if (!refusal) return false
  const { message, errors = {} } = refusal
  const faults = Object.entries(errors).map(([asked, words]) => {
    const known = Object.hasOwn(fields, asked) ? fields[asked] : undefined
    const what = known ? html`<a class="link" href="#${known[0]}">${known[1]}</a>` : asked
    return html`<li>${what} ${words.join('; ')}</li>`
  })
  return note(faults.length > 0 ? html`<b>This has to be different:</b><ul>${faults}</ul>` : html`<b>${message}.</b>`)
}

/** An address of this marketplace, and no other: whoever signs in goes on there. */
export function localPath(text: string | undefined): string | null {
  if (!text || text.length > 1000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return null
  const base = 'http://here.invalid'
  return URL.canParse(text, base) && new URL(text, base).origin === base ? text : null
}
