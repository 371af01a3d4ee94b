/** Bundles the compiled modules into a few files that load fast. Run by `npm run build`; not part of the package. */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { makeEmptyDatabase } from './store/embedded/initial-image.ts'
import { migrations } from './store/migrations/index.ts'

const entries = ['cli/main', 'index', 'client/client', 'client/webhooks', 'store/embedded/snapshot-worker']
// Bundled, because it has nearly a hundred files. Other packages stay outside, so that users get their security fixes.
const taken = 'zod'

const require = createRequire(import.meta.url)
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const { dependencies } = require('agent-marketplace/package.json')

const folder = at('bundle')
await rm(folder, { recursive: true, force: true })
await mkdir(folder)
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
    external: Object.keys(dependencies).filter(name => name !== taken),
    logLevel: 'warning',
  }),
  copyFile(join(dirname(require.resolve(`${taken}/package.json`)), 'LICENSE'), join(folder, `${taken}.LICENSE`)),
  makeEmptyDatabase(migrations).then(bytes => writeFile(join(folder, 'empty.db'), bytes)),
])
