/** The source as text, and what it imports: what the rules of this folder look at. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** By path. */
export type Files = Readonly<Record<string, string>>

/** A room is a folder of src, or a file beside them. */
export const room = (path: string) => path.split('/')[1]!.replace(/\.tsx?$/, '')

/** Comments name what is banned, so they are not looked at. */
export const code = (text: string) => text.replace(/^\s*(?:\/\*|\*|\/\/).*$/gm, '').replace(/\s\/\/ .*$/gm, '')

/** Every module that a text names, by whatever form of import. */
export function importsOf(text: string): string[] {
  const forms = /(?:\bfrom\s*|\bimport\s*|\bimport\s*\(\s*|\brequire(?:\.resolve)?\s*\(\s*)['"]([^'"\n]+)['"]/g
  return [...code(text).matchAll(forms)].map(match => match[1]!)
}

export const localImports = (path: string, text: string): string[] =>
  importsOf(text)
    .filter(name => name.startsWith('.'))
    .map(name => posix.join(posix.dirname(path), name))
    .filter(target => target.startsWith('src/') && target !== path)

export function read(folder: string, suffix: string): Files {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => path.replaceAll('\\', '/'))
  return Object.fromEntries(
    paths
      .filter(path => path.endsWith(suffix))
      .sort()
      .map(path => [`${folder}/${path}`, readFileSync(`${folder}/${path}`, 'utf8')]),
  )
}

export const sources = { ...read('src', '.ts'), ...read('src', '.tsx') }
