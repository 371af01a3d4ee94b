/** Programs of jq over what a command prints. The package is jq itself, compiled to WebAssembly; it is loaded on demand. Source: A-246. */
import { UsageError } from '../../settings/config.ts'
import { exitCodes, Fault } from '../exit-codes.ts'

/** Throws a UsageError if it is no program. What it returns makes the lines to print: texts stand alone, as with `jq -r`. */
export async function jqProgram(program: string): Promise<(json: string) => Promise<string>> {
  const { raw } = await import('jq-wasm')
  // Compiled alone, so that a typo is told before anything is sent.
  await raw('null', `if false then (${program}\n) else empty end`).catch((error: Error) => {
    throw new UsageError(`--jq takes a program of jq, like '.data.items[].slug': ${wordsOf(error)}.`)
  })
  return async json => {
    const lines = await raw(json, program, ['-rc']).catch((error: Error) => {
      throw new Fault(`The program of --jq does not fit the answer: ${wordsOf(error)}`, {
        code: exitCodes.failed,
        hint: `It is given the whole answer, {success, data}; --jq '.data | keys' says what that has.`,
      })
    })
    return lines === '' ? '' : `${lines}\n`
  }
}

const wordsOf = ({ message }: Error) => message.split('\n', 1)[0]!.replace(/^jq: /, '').trim()
