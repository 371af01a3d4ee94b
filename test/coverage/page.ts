/** The coverage table, as a page. */
import { editsOf, heldBy, type Row } from './row.ts'
import { sections } from './rows.ts'

export const PAGE = 'docs/coverage.md'

const head = `# Coverage

Every row of the interface, the tests that hold it, and a mutation under which the first of them fails. A name stands for
all tests of its file that begin so. \`npm run test:coverage-mutations\` makes each mutation in a copy of the source and demands that
failure. Written by \`npm run coverage\`.
`

export const coveragePage = () =>
  `${head}${sections.map(([title, rows]) => `\n## ${title}\n\n${table(rows)}`).join('')}`

const table = (rows: readonly Row[]) =>
  ['| Row | Tests | Mutation |', '|---|---|---|', ...rows.map(line), ''].join('\n')

const line = (row: Row) => {
  const [what] = row
  const tests = heldBy(row).map(({ file, names }) => `\`test/${file}\`: ${cell(names)}`)
  const edits = editsOf(row).map(([file, from, to]) => `\`src/${file}\`: ${change(from, to)}`)
  return `| ${cell(what)} | ${tests.join('<br>')} | ${edits.join('<br>')} |`
}

/** Only where they differ, with a little around it. */
function change(from: string, to: string): string {
  if (to === '') return `without ${code(from)}`
  return `${code(from)} → ${code(to)}`
}

const code = (text: string) => `<code>${cell(text.trim().replace(/\s*\n\s*/g, ' '))}</code>`

const cell = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('|', '\\|')
    .replaceAll('`', '&#96;')
    .replaceAll('*', '\\*')
