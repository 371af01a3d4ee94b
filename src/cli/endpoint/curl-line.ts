/** Writes a POST as one command of a POSIX shell. */
import { shellWord } from '../../api/shell-word.ts'

export interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** The body comes by a pipe, because one argument of a program holds 128 KiB at most on Linux. */
export function curlLine({ url, headers, body }: Post): string {
  const given = Object.entries(headers).map(
    ([name, value]) => `-H ${shellWord(value === '' ? `${name};` : `${name}: ${value}`)}`,
  )
  return `printf %s ${shellWord(body)} | curl -sS -i ${shellWord(url)} ${given.join(' ')} --data-binary @-`
}
