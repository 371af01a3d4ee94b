/** Makes what the package holds beside its sources: the bundle, the console, declarations, the manual, the empty database. Run by `npm run build`; not part of it. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wholeTable } from '../../src/cli/command-table.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { bundle } from './bundling.ts'
import { buildConsole } from './console.ts'
import { makeEmptyDatabase } from './empty-database.ts'
import { manPages } from './man-pages.ts'

/** Where the compiler has put its output. */
const at = (path: string) => fileURLToPath(new URL(`../../dist/${path}`, import.meta.url))

/** Copies the declarations of the package's exports, and what these import: the compiler makes ten times as many. */
async function copyDeclarations(exported: readonly string[], to: string): Promise<void> {
  const wanted = exported.map(entry => at(`${entry}.d.ts`))
  for (const path of wanted) {
    const text = await readFile(path, 'utf8')
    const copy = join(to, relative(at(''), path))
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, text)
    for (const [, , name] of text.matchAll(/\b(?:from|import)\s*\(?(["'])(\.[^"']+)\.ts\1/g)) {
      const next = join(dirname(path), `${name}.d.ts`)
      if (!wanted.includes(next)) wanted.push(next)
    }
  }
}

const types = at('types')
await rm(types, { recursive: true, force: true })
const folder = at('bundle')
await rm(folder, { recursive: true, force: true })
await mkdir(folder)
await rm(at('man'), { recursive: true, force: true })
await mkdir(at('man'), { recursive: true })
await Promise.all([
  bundle(folder),
  buildConsole(at('console')),
  copyDeclarations(['index', 'client/client', 'client/webhooks'], types),
  wholeTable().then(table =>
    Promise.all([...manPages(table)].map(([name, page]) => writeFile(at(`man/${name}.1`), page))),
  ),
  makeEmptyDatabase(migrations).then(bytes => writeFile(join(folder, 'empty.db'), bytes)),
])
