/** A line for a shell out of words, whatever stands in them: a clone, a temporary folder or Node may lie in a folder with a space. */
import { plainShellWord } from '../../src/api/command-line.ts'

export const shellLine = (...words: readonly string[]): string => words.map(plainShellWord).join(' ')
