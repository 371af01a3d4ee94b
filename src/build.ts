/** Bundles the compiled modules into a few files that load fast. Run by `npm run build`; not part of the package. */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { manPage } from './cli/command-line/man-page.ts'
import { wholeTable } from './cli/command-table.ts'
import { makeEmptyDatabase } from './store/embedded/initial-image.ts'
import { migrations } from './store/migrations/index.ts'

const entries = ['cli/main', 'index', 'client/client', 'client/webhooks', 'store/embedded/snapshot-worker']
// Bundled, because it has nearly a hundred files. Other packages stay outside, so that users get their security fixes; development
// dependencies whose code is used are taken in too, as the whole of them would be ten times the package.
const taken = 'zod'

// Node looks through a package in CommonJS for the names that it exports, if it is imported. It need not if the package is required.
const inCommonJs = ['@node-rs/argon2', 'commander', 'cookie', 'ipaddr.js']

const require = createRequire(import.meta.url)
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const { dependencies } = require('agent-marketplace/package.json')

/** Makes the bundle require these packages, wherever our modules import them. They stay outside. Source: A-276. */
const required: Plugin = {
  name: 'required',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^.]/ }, ({ path }) => (inCommonJs.includes(path) ? { path, namespace: 'required' } : null))
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({ contents: requiring(path), resolveDir: at('.') }))
  },
}

function requiring(name: string): string {
  const exported = Object.keys(require(name)).filter(word => /^[A-Za-z_]\w*$/.test(word) && word !== 'default')
  return [
    "import { createRequire } from 'node:module'",
    `const it = createRequire(import.meta.url)('${name}')`,
    'export default it',
    `export const { ${exported.join(', ')} } = it`,
  ].join('\n')
}

/** Copies the declarations of the package's exports, and what these import: the compiler makes ten times as many. */
async function copyDeclarations(exported: readonly string[], to: string): Promise<void> {
  const wanted = exported.map(entry => at(`${entry}.d.ts`))
  for (const path of wanted) {
    const text = await readFile(path, 'utf8')
    const copy = join(to, relative(at('.'), path))
    await mkdir(dirname(copy), { recursive: true })
    await writeFile(copy, text)
    for (const [, , name] of text.matchAll(/\b(?:from|import)\s*\(?(["'])(\.[^"']+)\.ts\1/g)) {
      const next = join(dirname(path), `${name}.d.ts`)
      if (!wanted.includes(next)) wanted.push(next)
    }
  }
}

/** Copies the licences of the packages whose code is in the bundle. */
async function copyLicences(files: readonly string[], to: string): Promise<void> {
  const packages = new Set(files.flatMap(path => /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path)?.[1] ?? []))
  for (const path of packages) {
    const licence = (await readdir(path)).find(name => /^licen[cs]e/i.test(name))
    if (!licence) throw new Error(`${path} is taken into the bundle, and has no licence`)
    const [name] = path.split('node_modules/').slice(-1)
    await copyFile(join(path, licence), join(to, `${name!.replace('/', '__')}.LICENSE`))
  }
}

const types = at('types')
await rm(types, { recursive: true, force: true })
const folder = at('bundle')
await rm(folder, { recursive: true, force: true })
await mkdir(folder)
await mkdir(at('man'), { recursive: true })
await Promise.all([
  build({
    entryPoints: entries.map(entry => at(`${entry}.js`)),
    outdir: folder,
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    // Halves the size. Names and short lines stay, so that stacks can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    // A stack needs only the file and line in src. The sources themselves would double the package. Source: A-225.
    sourcemap: true,
    sourcesContent: false,
    plugins: [required],
    external: Object.keys(dependencies).filter(name => name !== taken),
    logLevel: 'warning',
    metafile: true,
  }).then(({ metafile }) => copyLicences(Object.keys(metafile.inputs), folder)),
  copyDeclarations(['index', 'client/client', 'client/webhooks'], types),
  wholeTable().then(table => writeFile(at('man/marketplace.1'), manPage(table))),
  makeEmptyDatabase(migrations).then(bytes => writeFile(join(folder, 'empty.db'), bytes)),
])
