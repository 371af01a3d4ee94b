/**
 * The scripts that complete words in shells. Each holds all words, so that a tabulator starts no program: that would take
 * a fifth of a second. Only ids are asked for, of the marketplace, by a program that does nothing else. Source: A-251.
 */
import { pwshWord, shellWord } from '../../api/command-line.ts'
import type { CommandTable } from './command.ts'
import { type AllWords, allWordsOf, type FlagValues, type Ids, type Word, type Words } from './completion-words.ts'

type Script = (table: CommandTable, known?: FlagValues, ids?: Ids) => string

export const scripts: Readonly<Record<'bash' | 'zsh' | 'fish' | 'pwsh', Script>> = {
  bash: (table, known, ids) => bash(allWordsOf(table, known, ids)),
  zsh: (table, known, ids) => zsh(allWordsOf(table, known, ids)),
  fish: (table, known, ids) => fish(allWordsOf(table, known, ids)),
  pwsh: (table, known, ids) => pwsh(allWordsOf(table, known, ids)),
}

const list = (words: readonly Word[]) => words.map(({ word }) => word).join(' ')

/** The words that lead to more words: names of groups and commands. */
const paths = (words: Words) => [...words.keys()].filter(path => path !== '')

/** The flags that take one of some values, and those that take anything. */
const some = (values: Words) => [...values].filter(([, words]) => words.length > 0)
const any = ({ values, ids }: AllWords) =>
  [...values].filter(([at, words]) => words.length === 0 && !ids.has(at)).map(([at]) => shellWord(at))

/** Cases of a shell: after these words these ids are asked for. */
const idCases = ({ ids }: AllWords, isOfFlag: boolean) =>
  [...ids]
    .filter(([at]) => / --/.test(at) === isOfFlag)
    .map(([at, asked]) => `    ${shellWord(at)}) ids=${shellWord(asked)} ;;`)
    .join('\n')

const bash = (all: AllWords) => `# Completion of marketplace for bash 3.2 and later.
_marketplace() {
  local cur kept before='' at='' word list='' ids='' last=0 words=(marketplace)
  # Readline breaks words at colons and equals signs, and puts what is offered behind the last one.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $word == :* || \${words[last]} == *: ]]; then words[last]+=$word
    elif [[ $word == '=' && \${words[last]} == --* ]]; then words[++last]=''
    elif [[ -z \${words[last]} ]]; then words[last]=$word
    else words[++last]=$word
    fi
  done
  cur="\${words[last]}"
  for word in "\${words[@]:1:last-1}"; do
    case "$at $word" in
      ${paths(all.words).map(shellWord).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[last-1]}" in
${some(all.values)
  .map(([at, next]) => `    ${shellWord(at)}) list=${shellWord(list(next))} ;;`)
  .join('\n')}
${idCases(all, true)}
    ${any(all).join('|')}) return ;;
    *) case "$at" in
${[...all.words].map(([at, next]) => `    ${shellWord(at)}) list=${shellWord(list(next))} ;;`).join('\n')}
    esac
    case "$at" in
${idCases(all, false)}
    esac ;;
  esac
  if [[ -n $ids && $cur != -* ]]; then list+=" $("\${COMP_WORDS[0]}" completion-ids "$ids" 2>/dev/null | cut -f1)"; fi
  case "$cur" in *,*) before="\${cur%,*}," ;; esac
  COMPREPLY=($(compgen -P "$before" -W "$list" -- "\${cur##*,}"))
  case "$COMP_WORDBREAKS" in *:*) kept="\${cur%"\${cur##*:}"}"; COMPREPLY=("\${COMPREPLY[@]#"$kept"}") ;; esac
}
complete -o default -F _marketplace marketplace
`

/** A colon ends the word of an entry, so one in the description is escaped too. */
const entry = ({ word, about }: Word) => shellWord(about === '' ? word : `${word}:${about.replaceAll(':', '\\:')}`)

const isFlag = ({ word }: Word) => word.startsWith('-')

const zsh = (all: AllWords) => `#compdef marketplace
# Completion of marketplace for zsh.
_marketplace() {
  local -a list flags
  local at='' word ids='' line tab=$'\\t'
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${paths(all.words).map(shellWord).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${some(all.values)
  .map(([at, next]) => `    ${shellWord(at)}) list=(${next.map(entry).join(' ')}); compset -P '*,' ;;`)
  .join('\n')}
${idCases(all, true)}
    ${any(all).join('|')}) _files; return ;;
    *) case "$at" in
${[...all.words]
  .map(
    ([at, next]) =>
      `    ${shellWord(at)}) list=(${next
        .filter(one => !isFlag(one))
        .map(entry)
        .join(' ')}); flags=(${next.filter(isFlag).map(entry).join(' ')}) ;;`,
  )
  .join('\n')}
    esac
    case "$at" in
${idCases(all, false)}
    esac ;;
  esac
  if [[ -n "$ids" && "$PREFIX" != -* ]]; then
    for line in "\${(@f)$("$words[1]" completion-ids "$ids" 2>/dev/null)}"; do
      [[ -n "$line" ]] && list+=("\${line%%$tab*}:\${\${line#*$tab}//:/\\\\:}")
    done
  fi
  if [[ "$PREFIX" == -* ]]; then _describe -o flag flags; return; fi
  if (( $#list )); then _describe word list; else _files; fi
}
if [ "$funcstack[1]" = _marketplace ]; then _marketplace "$@"; else compdef _marketplace marketplace; fi
`

const inFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const fish = ({ words, values, ids }: AllWords) => `# Completion of marketplace for fish.
function __marketplace_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    if contains -- "$at $word" ${paths(words).map(inFish).join(' ')}
      set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
function __marketplace_values
  set -l before (string replace -r '^--[^=]*=' '' -- (commandline -ct) | string replace -r '[^,]*$' '')
  for value in $argv
    echo "$before$value"
  end
end
${[...words].flatMap(([at, next]) => next.map(({ word, about }) => fishLine(at, word, about, values.get(`${at} ${word}`), ids.get(`${at} ${word}`)))).join('\n')}
${[...ids]
  .filter(([at]) => !/ --/.test(at))
  .map(
    ([at, asked]) =>
      `complete -c marketplace -n ${inFish(`__marketplace_at ${inFish(at)}`)} -f -a ${inFish(idsInFish(asked))}`,
  )
  .join('\n')}
`

/** `values`: those of a flag that takes one. Without any it takes a file, as far as a shell can know. */
function fishLine(at: string, word: string, about: string, values?: readonly Word[], ids?: string): string {
  const taken =
    values === undefined
      ? ''
      : values.length === 0
        ? ids === undefined
          ? ' -r'
          : ` -x -a ${inFish(idsInFish(ids))}`
        : ` -x -a ${inFish(`(__marketplace_values ${values.map(valueInFish).join(' ')})`)}`
  const what = word.startsWith('--')
    ? `-l ${word.slice(2)}${taken}`
    : word.startsWith('-')
      ? `-s ${word.slice(1)}`
      : `-f -a ${word}`
  return `complete -c marketplace -n ${inFish(`__marketplace_at ${inFish(at)}`)} ${what} -d ${inFish(about)}`
}

const idsInFish = (asked: string) => `(marketplace completion-ids ${inFish(asked)} 2>/dev/null)`

const valueInFish = ({ word, about }: Word) => (about === '' ? word : `${word}\\t${inFish(about)}`)

const pwsh = ({ words, values, ids }: AllWords) => `# Completion of marketplace for PowerShell 5 and later.
Register-ArgumentCompleter -Native -CommandName marketplace -ScriptBlock {
  param([string]$word, $ast, $position)
  $words = @{
${rowsInPwsh(words)}
  }
  $values = @{
${rowsInPwsh(values)}
  }
  $ids = @{
${[...ids].map(([at, asked]) => `    ${pwshWord(at)} = ${pwshWord(asked)}`).join('\n')}
  }
  $at = ''
  $last = ''
  foreach ($element in $ast.CommandElements) {
    if ($element.Extent.EndOffset -ge $position) { break }
    $last = "$element"
    if ($words.ContainsKey("$at $last")) { $at = "$at $last" }
  }
  $lines = $words[$at]
  $asked = $ids[$at]
  if ($values.ContainsKey("$at $last")) {
    $lines = $values["$at $last"]
    $asked = $ids["$at $last"]
  }
  if ($asked -and -not $word.StartsWith('-')) {
    $lines = @($lines) + @(marketplace completion-ids $asked 2>$null)
  }
  # PowerShell may hand over the last name of a list alone, or the whole list.
  $part = $word.Substring($word.LastIndexOf(',') + 1)
  $before = $word.Substring(0, $word.Length - $part.Length)
  foreach ($line in $lines) {
    $one, $about = "$line" -split "\`t", 2
    if (-not $about) { $about = $one }
    if ($one -and $one.StartsWith($part, 'Ordinal')) {
      [System.Management.Automation.CompletionResult]::new("$before$one", $one, 'ParameterValue', $about)
    }
  }
}
`

/** A tabulator stands before what a word is about, as in the lines of ids. */
const rowsInPwsh = (words: Words) =>
  [...words]
    .map(([at, next]) => {
      const lines = next.map(({ word, about }) => pwshWord(`${word}\t${about}`))
      return `    ${pwshWord(at)} = @(${lines.join(', ')})`
    })
    .join('\n')
