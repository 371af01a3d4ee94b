/** docs/reference/commands.md, made from the records of the commands. */
import type { CommandRecord, CommandTable } from '../../src/cli/command-line/command.ts'
import { exitCodesInWords } from '../../src/cli/exit-codes.ts'
import { NOTE, table } from './markdown.ts'

export const commandsPage = ({ chapters }: CommandTable): string =>
  [
    NOTE,
    '# Commands',
    `Every command of \`marketplace\`. Exit codes: ${exitCodesInWords}. The manual says the same: \`man marketplace\`, \`man marketplace tasks\`.`,
    ...chapters.flatMap(([heading, records]) => [`## ${heading.replace(/:$/, '')}`, ...records.flatMap(section)]),
    '',
  ].join('\n\n')

const section = ({ name, takes = [], summary, options, notes, examples }: CommandRecord): string[] => [
  `### ${name}`,
  `\`marketplace ${[name, ...takes].join(' ')}\`: ${summary}.`,
  ...(options.length > 0
    ? [
        table(
          ['Flag', ''],
          options.map(([flags, words]) => [`\`${flags}\``, words]),
        ),
      ]
    : []),
  ...(notes ? [`\`\`\`text\n${notes}\n\`\`\``] : []),
  `\`\`\`text\n${examples.join('\n')}\n\`\`\``,
]
