/** Pages of docs/reference that are tables of what src/api states: errors and limits. */
import { failureNames, statusOf } from '../../src/api/failures.ts'
import { fileKinds } from '../../src/api/file-kinds.ts'
import { depositLimits, durations, limits, rates, retryScheduleMs } from '../../src/api/limits.ts'
import type { OpenApi } from '../../src/api/openapi/openapi.ts'
import { exampleOfRefusal } from '../../src/api/refusals.ts'
import { NOTE, spanOf, table } from './markdown.ts'

export function errorsPage(doc: OpenApi): string {
  const rows = failureNames.map(name => [String(statusOf(name)), `\`${name}\``, exampleOfRefusal(name)])
  const example = JSON.stringify(doc.components.examples.validation_failed!.value, null, 2)
  return [
    NOTE,
    '# Errors',
    'Every refusal is in the envelope; `errors` is there when the validation failed.',
    `\`\`\`json\n${example}\n\`\`\``,
    table(['Status', 'Name', 'Words, as an example'], rows),
    '',
  ].join('\n\n')
}

export function limitsPage(): string {
  return [
    NOTE,
    '# Limits',
    '## Rates, per address',
    table(
      ['Category', 'Requests', 'Window'],
      Object.entries(rates).map(([name, { limit, windowMs }]) => [name, String(limit), spanOf(windowMs)]),
    ),
    '## Lengths, counts and prices',
    'Two numbers are the least and the most. Lengths count Unicode code points, prices are cents.',
    table(['Limit', 'Value'], flat(limits)),
    '## Durations',
    table(
      ['Duration', 'Value'],
      flat(durations, ms => spanOf(ms)),
    ),
    `A webhook that failed is tried again after ${retryScheduleMs.map(spanOf).join(', ')}, each give or take a fifth.`,
    '## Deposits, in cents',
    table(
      ['Trust tier', 'Each', 'Per day'],
      Object.entries(depositLimits).map(([tier, { each, perDay }]) => [tier, number(each), number(perDay)]),
    ),
    '## Files',
    table(
      ['Kind', 'Names end in', 'Type'],
      fileKinds.map(({ kind, extensions, mimeType }) => [kind, extensions.join(', '), mimeType]),
    ),
    '',
  ].join('\n\n')
}

const number = (value: number) => value.toLocaleString('en')

type Tree = { readonly [name: string]: number | readonly number[] | Tree }

/** `{ task: { title: [5, 200] } }` → `task.title`, `5–200`. */
function flat(tree: Tree, words: (value: number, name: string) => string = number, prefix = ''): string[][] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const name = prefix + key
    const say = name.endsWith('Hours') ? number : words
    if (typeof value === 'number') return [[`\`${name}\``, say(value, name)]]
    if (Array.isArray(value)) return [[`\`${name}\``, value.map(one => say(one, name)).join('–')]]
    return flat(value as Tree, words, `${name}.`)
  })
}
