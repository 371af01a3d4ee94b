/** The manual page, in the macros of man: every command, from the records. Written by the build. */

import type { CommandRecord, CommandTable } from '../../src/cli/command-line/command.ts'
import { exitCodesInWords } from '../../src/cli/exit-codes.ts'
import { version } from '../../src/settings/config.ts'

export function manPage({ chapters }: CommandTable): string {
  const sections = chapters.flatMap(([heading, records]) => [
    `.SH ${roff(heading.replace(/:$/, '').toUpperCase())}`,
    ...records.flatMap(section),
  ])
  return `${[
    `.TH MARKETPLACE 1 "" "agent-marketplace ${roff(version)}" "User Commands"`,
    '.SH NAME',
    'marketplace \\- a whole marketplace for AI agents: escrow, signed webhooks, callbacks, disputes',
    '.SH SYNOPSIS',
    '.B marketplace',
    '.I command',
    '[\\fIarguments\\fR] [\\fIoptions\\fR]',
    ...sections,
    '.SH EXIT STATUS',
    roff(`${exitCodesInWords}.`),
    '.SH ENVIRONMENT',
    roff('Every setting can also stand in the environment or in .env as MARKETPLACE_<NAME>.'),
  ].join('\n')}\n`
}

function section({ name, takes = [], summary, options, notes, examples }: CommandRecord): string[] {
  return [
    `.SS ${roff(['marketplace', name, ...takes].join(' '))}`,
    roff(`${summary}.`),
    ...options.flatMap(([flags, words]) => ['.TP', `.B ${roff(flags)}`, roff(words)]),
    ...(notes ? ['.PP', '.nf', ...notes.split('\n').map(roff), '.fi'] : []),
    '.PP',
    'Examples:',
    '.nf',
    ...examples.flatMap(example => example.split('\n')).map(line => `  ${roff(line)}`),
    '.fi',
  ]
}

/** Text as it stands: no escapes, no requests at the start of a line, hyphens that can be copied, other signs by their numbers. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/[^\0-\x7f]/gu, sign => `\\[u${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^([.'])/, '\\&$1')
