/**
 * Builds the console, from `src/console` into a folder: a page, a stylesheet and scripts, each but the page named by its content. Part of
 * the build, not of the package. Source: A-306.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/api/endpoints/index.ts'

const source = fileURLToPath(new URL('../../src/console/', import.meta.url))

/** The parts of the page that have names of their content, by the names that the page has for them. */
const parts = { main: 'main.tsx', theme: 'theme.ts', style: 'console.css', icon: 'icon.svg' }

export async function buildConsole(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: source,
    entryPoints: Object.values(parts),
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    // `light-dark()` is as new.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    metafile: true,
    logLevel: 'warning',
    plugins: [recordsAsData, sharedInOneChunk],
  })
  const page = await readFile(join(source, 'index.html'), 'utf8')
  const named = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint, inputs }]) => [
      entryPoint ?? Object.keys(inputs)[0],
      basename(path),
    ]),
  )
  await writeFile(
    join(folder, 'index.html'),
    page.replaceAll(/\{(\w+)\}/g, (_, part: keyof typeof parts) => named.get(parts[part])!),
  )
}

/** The words of the console's sources: it asks by no endpoint that none of them names. */
const asked = new Set(
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .flatMap(name => readFileSync(join(source, name), 'utf8').match(/\w+/g) ?? []),
)

/**
 * Gives the client what it reads of the records, and no shapes: these are for who checks requests, and have ten times the code. Signing needs a
 * secret, which no browser has.
 */
const recordsAsData: Plugin = {
  name: 'records as data',
  setup({ onLoad }) {
    onLoad({ filter: /src\/api\/endpoints\/index\.ts$/ }, () => ({
      contents: `export const endpoints = ${JSON.stringify(Object.fromEntries(Object.entries(endpoints).flatMap(([name, record]) => (asked.has(name) ? [[name, dataOf(record)]] : []))))}`,
    }))
    onLoad({ filter: /src\/api\/signature\.ts$/ }, () => ({
      contents: `export const signatureHeaders = () => { throw new TypeError('A browser signs nothing') }`,
    }))
  },
}

/**
 * The shell is there before any of the other pages, and forms before most: in one chunk with what they share, all weigh 1.2 and 0.4 kB less.
 */
const sharedInOneChunk: Plugin = {
  name: 'shared in one chunk',
  setup({ onLoad }) {
    const withImport = (filter: RegExp, imported: string, loader: 'ts' | 'tsx') =>
      onLoad({ filter }, ({ path }) => ({ contents: `import '${imported}'\n${readFileSync(path, 'utf8')}`, loader }))
    withImport(/pages\/others\.ts$/, '../shell.tsx', 'ts')
    withImport(/console\/shell\.tsx$/, './parts/form.tsx', 'tsx')
  },
}

/** Not by what it is authorized, as a browser sends its cookie with every request; and pages are asked for one by one. */
const dataOf = ({ method, path, query, body, download, stream }: Endpoint) => ({
  method,
  path,
  download,
  stream,
  query: query && { shape: Object.fromEntries(Object.keys(query.shape).map(name => [name, 1])) },
  body: body && 1,
})
