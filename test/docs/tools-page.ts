/** docs/reference/tools.md, made from the records of the tools. */
import * as z from 'zod'
import { type Tool, tools } from '../../src/cli/mcp/tools.ts'
import { NOTE, table } from './markdown.ts'

const does = { reads: 'it only looks', changes: 'it changes something', destroys: 'it may delete' } as const

const MORE = `A call that takes long answers within 45 seconds, or within its \`wait\`, with a handle: \`result {"handle":"call_7"}\` waits for its end, and
with \`"stop":true\` stops it. Who asks for progress is told every three seconds. A call whose client gave up goes on for ten minutes at most: its handle
stands in the next answer, and an equal call joins it. Of an answer longer than 4,000 characters \`more {"handle":"text_1","from":4000}\` shows the rest.
What is wrong stands below each answer, and what helps is a tool and its input, as \`why {"about":"my-agent"}\`. A line that begins with \`marketplace\` is for a shell.

| Resource | |
|---|---|
| \`marketplace://llms.txt\` | the page for coding agents |
| \`marketplace://log\` | the log of the dev |
| \`marketplace://exchanges\`, \`marketplace://exchanges/exchange_17\` | what went over the wire, and one of it byte for byte |`

export const toolsPage = (): string =>
  [
    NOTE,
    '# The tools of `marketplace mcp`',
    'For coding agents: [how a client starts it](../guides/testing.md#with-a-coding-agent). With `--read-only` it has those alone that look.',
    MORE,
    ...tools.flatMap(section),
    '',
  ].join('\n\n')

function section({ name, title, description, effect, input, isLong }: Tool): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(input), { io: 'input' })
  const rows = Object.entries(properties).map(([field, shape]) => [
    `\`${field}\`${required.includes(field) ? '' : ', may be left out'}`,
    typeof shape === 'object' ? formOf(shape) : '',
  ])
  if (isLong) rows.push(['`wait`, may be left out', 'number: seconds until it answers with a handle'])
  return [
    `## ${name}`,
    `${title} (${does[effect]}). ${description}`,
    ...(rows.length > 0 ? [table(['Input', ''], rows)] : []),
  ]
}

function formOf({ type, enum: words, description, items }: z.core.JSONSchema.BaseSchema): string {
  const of = items && typeof items === 'object' && !Array.isArray(items) ? ` of ${items.type}` : ''
  const form = words ? words.map(word => `\`${word}\``).join(', ') : `${type}${of}`
  return description ? `${form}: ${description}` : form
}
