/**
 * The scripts that complete words in shells. Each holds all words, so that a tabulator starts no program: that would take
 * a fifth of a second. Source: A-251.
 */
import { shellWord } from '../../api/shell-word.ts'
import type { CommandTable } from './command.ts'
import { type Word, type Words, wordsOf } from './completion-words.ts'

export const scripts: Readonly<Record<'bash' | 'zsh' | 'fish' | 'pwsh', (table: CommandTable) => string>> = {
  bash: table => bash(wordsOf(table)),
  zsh: table => zsh(wordsOf(table)),
  fish: table => fish(wordsOf(table)),
  pwsh: table => pwsh(wordsOf(table)),
}

const list = (words: readonly Word[]) => words.map(({ word }) => word).join(' ')

/** The words that lead to more words: names of groups and commands. */
const paths = (words: Words) => [...words.keys()].filter(path => path !== '')

const bash = (words: Words) => `# Completion of marketplace for bash 3.2 and later.
_marketplace() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at='' word list=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${paths(words).map(shellWord).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${[...words].map(([at, next]) => `    ${shellWord(at)}) list=${shellWord(list(next))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$list" -- "$cur"))
}
complete -o default -F _marketplace marketplace
`

/** A colon ends the word of an entry, so one in the description is escaped too. */
const entry = ({ word, about }: Word) => shellWord(`${word}:${about.replaceAll(':', '\\:')}`)

const zsh = (words: Words) => `#compdef marketplace
# Completion of marketplace for zsh.
_marketplace() {
  local -a list
  local at='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${paths(words).map(shellWord).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${[...words].map(([at, next]) => `    ${shellWord(at)}) list=(${next.map(entry).join(' ')}) ;;`).join('\n')}
  esac
  _describe -o marketplace list || _files
}
if [ "$funcstack[1]" = _marketplace ]; then _marketplace "$@"; else compdef _marketplace marketplace; fi
`

const inFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const fish = (words: Words) => `# Completion of marketplace for fish.
function __marketplace_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    if contains -- "$at $word" ${paths(words).map(inFish).join(' ')}
      set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${[...words].flatMap(([at, next]) => next.map(({ word, about }) => fishLine(at, word, about))).join('\n')}
`

function fishLine(at: string, word: string, about: string): string {
  const what = word.startsWith('--')
    ? `-l ${word.slice(2)}`
    : word.startsWith('-')
      ? `-s ${word.slice(1)}`
      : `-f -a ${word}`
  return `complete -c marketplace -n ${inFish(`__marketplace_at ${inFish(at)}`)} ${what} -d ${inFish(about)}`
}

const inPwsh = (text: string) => `'${text.replaceAll("'", "''")}'`

const pwsh = (words: Words) => `# Completion of marketplace for PowerShell.
Register-ArgumentCompleter -Native -CommandName marketplace -ScriptBlock {
  param($word, $ast, $position)
  $next = @{
${[...words].map(([at, next]) => `    ${inPwsh(at)} = @(${next.map(pair).join(', ')})`).join('\n')}
  }
  $at = ''
  $given = $ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $position }
  foreach ($element in $given) { if ($next.ContainsKey("$at $element")) { $at = "$at $element" } }
  $next[$at] | Where-Object { $_[0] -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`

/** The comma before keeps a list of one pair a list of pairs. */
const pair = ({ word, about }: Word) => `,@(${inPwsh(word)}, ${inPwsh(about || word)})`
