/** The body, the query and the headers of `marketplace call`, from flags. */

import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Endpoint } from '../../api/endpoint.ts'
import { endpoints } from '../../api/endpoints/index.ts'
import { UsageError } from '../../settings/config.ts'
import { textGiven } from '../command-line/json-input.ts'
import { diskReason } from '../output/disk-faults.ts'

/** `true`, `null` and numbers are what they are in JSON; `@file` and `-` are read; anything else is a text. */
export async function typedFields(given: readonly string[]): Promise<[path: string, value: unknown][]> {
  const fields: [string, unknown][] = []
  for (const text of given) {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`--field takes NAME=VALUE, not ${text}.`)
    fields.push([text.slice(0, at), await valueIn(text.slice(at + 1))])
  }
  return fields
}

async function valueIn(text: string): Promise<unknown> {
  if (/^(?:true|false|null|-?(?:0|[1-9]\d{0,14}))$/.test(text)) return JSON.parse(text)
  return textGiven('--field', text)
}

/** Fields as an object: `a[b]=1` nests, and `a[]=1` adds to a list. */
export function objectOf(fields: readonly [path: string, value: unknown][]): object {
  const root: Record<string, unknown> = Object.create(null)
  for (const [path, value] of fields) put(root, partsOf(path), value, path)
  return root
}

function partsOf(path: string): string[] {
  const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(path) ?? []
  if (first === undefined) throw new UsageError(`--field takes a name like title, data[title] or tags[], not ${path}.`)
  return [first, ...[...rest.matchAll(/\[([^\]]*)\]/g)].map(([, part]) => part!)]
}

function put(root: Record<string, unknown>, parts: readonly string[], value: unknown, path: string): void {
  let inner: unknown = root
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1
    const next = isLast ? value : parts[at + 1] === '' ? [] : Object.create(null)
    if (Array.isArray(inner) !== (part === '')) throw new UsageError(`--field ${path} is a list and no list at once.`)
    if (Array.isArray(inner)) inner.push(next)
    else {
      const object = inner as Record<string, unknown>
      if (isLast || !(part in object)) object[part] = next
      else if (typeof object[part] !== 'object') throw new UsageError(`--field ${path} is a value and holds others.`)
    }
    inner = Array.isArray(inner) ? inner.at(-1) : (inner as Record<string, unknown>)[part]
  }
}

/** A form for an endpoint that takes files: they are `files=@path`, as often as there are files. */
export async function formOf(given: readonly string[]): Promise<FormData> {
  const form = new FormData()
  const files = given.filter(isFile).map(text => text.slice(FILES.length))
  for (const path of files) {
    const bytes = await readFile(path).catch(error => {
      throw new UsageError(`--field: ${path} can't be read: ${diskReason(error as Error)}.`)
    })
    form.append('files', new Blob([bytes]), basename(path))
  }
  for (const [name, value] of await typedFields(given.filter(text => !isFile(text)))) form.append(name, String(value))
  return form
}

const FILES = 'files=@'
export const isFile = (text: string) => text.startsWith(FILES)

/** `Name: value`, as curl takes it. What carries the credential is set by the command alone. */
export function headersOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map(line => {
    const [, name = '', value = ''] = /^([\w-]+): *(.*)$/.exec(line) ?? []
    if (name === '') throw new UsageError(`--header takes 'Name: value', not ${line}.`)
    if (/^(?:authorization|cookie)$/i.test(name)) {
      throw new UsageError(`--header takes no ${name}: give the key with --key, or sign in.`)
    }
    return [name.toLowerCase(), value] as const
  })
  return Object.fromEntries(pairs)
}

const records: readonly Endpoint[] = Object.values(endpoints)

/** A path without parameters takes precedence. Returns undefined if there is no such endpoint. */
export function endpointAt(method: string, target: string): Endpoint | undefined {
  const asked = segmentsOf(target.split(/[?#]/, 1)[0] ?? '')
  const fits = ({ path }: Endpoint) => {
    const own = segmentsOf(path)
    return own.length === asked.length && own.every((part, at) => part.startsWith(':') || part === asked[at])
  }
  const found = records.filter(record => record.method === method && fits(record))
  return found.sort((a, b) => holes(a) - holes(b))[0]
}

const segmentsOf = (path: string) => path.replace(/\/$/, '').split('/')
const holes = ({ path }: Endpoint) => path.split('/:').length
