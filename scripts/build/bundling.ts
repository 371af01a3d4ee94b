/**
 * Bundles the compiled modules into files that load fast: esbuild splits them into chunks, and then joins those that are loaded together.
 * Part of the build, not of the package. Source.
 */
import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { commandList } from '../../src/cli/command-list.ts'
import { chunksToJoin, type Start } from './join-chunks.ts'

const entries = [
  'cli/main',
  'cli/commands/ids',
  'cli/command-runner',
  'index',
  'client/client',
  'client/webhooks',
  'store/embedded/snapshot-worker',
]
/** What a start of `dev` loads until it is ready. */
const dev = [
  'cli/main.js',
  'cli/table/running.js',
  'cli/commands/dev.js',
  'store/embedded/sqljs-internals.js',
  'required:@node-rs/argon2',
]
/** How much a start by a name counts: the others are parts of one, or rare. */
const OFTEN = 20
// Bundled, because it has nearly a hundred files. Other packages stay outside, so that users get their security fixes; development
// dependencies whose code is used are taken in too, as the whole of them would be ten times the package.
const taken = 'zod'
// Node looks through a package in CommonJS for the names that it exports, if it is imported. It need not if the package is required.
const inCommonJs = ['@node-rs/argon2', 'commander', 'cookie', 'ipaddr.js']

const require = createRequire(import.meta.url)
/** The folder of the compiled modules. */
const compiled = fileURLToPath(new URL('../../dist/', import.meta.url))
const { dependencies, peerDependencies } = require('agent-marketplace/package.json')

const options = {
  absWorkingDir: compiled,
  bundle: true,
  entryNames: '[name]',
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
  external: Object.keys({ ...dependencies, ...peerDependencies }).filter(name => name !== taken),
  logLevel: 'warning',
} as const satisfies BuildOptions

/** Makes the bundle in this folder, with the licences of the packages whose code is in it. */
export async function bundle(folder: string): Promise<void> {
  const chunks = join(compiled, 'chunks')
  await rm(chunks, { recursive: true, force: true })
  const entryPoints = entries.map(entry => `${entry}.js`)
  const split = {
    ...options,
    entryPoints,
    outdir: chunks,
    splitting: true,
    plugins: [required, leftOut, listed, builtIn],
  }
  const { metafile } = await build({ ...split, metafile: true })
  await joinChunks(metafile.outputs, chunks, folder)
  await thinSourceMaps(folder)
  await copyLicences(Object.keys(metafile.inputs), folder)
}

/**
 * What the MCP SDK brings along for what this server never does: ajv validates what a client was asked for, zod-to-json-schema reads
 * schemas of zod 3. Without them the package has 45 kB less.
 */
const NEVER_USED = /^(?:ajv|ajv-formats|zod-to-json-schema)$/
const leftOut: Plugin = {
  name: 'left out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: NEVER_USED }, ({ path }) => ({ path, namespace: 'left out' }))
    onLoad({ filter: /./, namespace: 'left out' }, ({ path }) => ({
      contents: `const gone = () => { throw new Error('${path} is left out of the bundle') }
        export { gone as Ajv, gone as zodToJsonSchema, gone as default }`,
    }))
  },
}

/** The list of commands as it is, in the place of the module that makes it of all records. */
const listed: Plugin = {
  name: 'listed',
  setup({ onLoad }) {
    onLoad({ filter: /cli[/\\]command-list\.js$/ }, async () => ({
      contents: `export const commandList = async () => (${JSON.stringify(await commandList())})`,
    }))
  },
}

/** A stack needs the file and the line, and of our own modules alone: without columns, names and packages, maps are a fifth as large. */
async function thinSourceMaps(folder: string): Promise<void> {
  const maps = (await readdir(folder)).filter(name => name.endsWith('.map'))
  await Promise.all(maps.map(name => thinSourceMap(join(folder, name))))
}

async function thinSourceMap(path: string): Promise<void> {
  const { sources, mappings, ...map } = JSON.parse(await readFile(path, 'utf8'))
  /** Where a segment leads to; null: into a package. */
  const place = ([, source = 0, row]: SourceMapSegment = [0]) =>
    sources[source].includes('node_modules') ? null : `${source}:${row}`
  const thin = decode(mappings).map(line =>
    line
      .filter((segment, at) => at === 0 || place(segment) !== place(line[at - 1]))
      .map((segment): SourceMapSegment => {
        const [column, source, row] = segment
        return place(segment) === null ? [column] : [column, source!, row!, 0]
      }),
  )
  await writeFile(path, JSON.stringify({ ...map, sources, names: [], mappings: encode(thin) }))
}

/** Makes the bundle require these packages, wherever our modules import them. They stay outside. Source: A-276. */
const required: Plugin = {
  name: 'required',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^.]/ }, ({ path }) => (inCommonJs.includes(path) ? { path, namespace: 'required' } : null))
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({ contents: requiring(path), resolveDir: compiled }))
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

/**
 * Takes what our modules import of Node as it is. Imported, each becomes a module of all its names first, and some of these load more of Node.
 * Source: A-276.
 */
const builtIn: Plugin = {
  name: 'built in',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, async ({ path }) =>
      path.startsWith(compiled) ? { contents: takingBuiltIns(await readFile(path, 'utf8')) } : null,
    )
  },
}

/** Line by line, as the compiler writes them: maps stay true. */
const takingBuiltIns = (code: string) =>
  code.replace(/^import (?:(\w+),? )?(?:(\{.*\}) )?from '(node:.+)';$/gm, (_, whole, names, module) => {
    const taken = `process.getBuiltinModule('${module}')`
    const bindings = [whole, names?.replaceAll(' as ', ': ')].filter(Boolean)
    return bindings.map(binding => `const ${binding} = ${taken};`).join(' ')
  })

async function joinChunks(outputs: Metafile['outputs'], from: string, to: string): Promise<void> {
  const names = Object.keys(outputs).filter(path => path.endsWith('.js'))
  const points = names.flatMap(path => outputs[path]!.entryPoint ?? [])
  const starts: Start[] = points.map(entry => ({ entries: [entry], weight: isNamed(entry) ? OFTEN : 1 }))
  const joined = chunksToJoin(outputs, [...starts, { entries: dev, weight: OFTEN }])
  const exported = new Map(names.map(path => [basename(path), outputs[path]!.exports]))
  const files = new Map(joined.map(paths => [basename(paths[0]!), paths.map(path => basename(path))]))
  const alone = names.filter(path => outputs[path]!.entryPoint !== undefined).map(path => basename(path))
  await build({
    ...options,
    entryPoints: [...alone, ...files.keys()].map(name => ({ in: `./${name}`, out: name.replace(/\.js$/, '') })),
    outdir: to,
    plugins: [joining(from, files, exported)],
  })
}

const isNamed = (entry: string) => entries.includes(entry.replace(/\.js$/, ''))

/**
 * Takes several chunks as one file. What they export has the number of its chunk added, as two may export the same name. Of another file
 * each chunk takes what it uses and no more: all that there is came to 29,000 names, a fifth of the bundle.
 */
function joining(from: string, files: Map<string, string[]>, exported: Map<string, string[]>): Plugin {
  const fileOf = new Map([...files].flatMap(([file, members]) => members.map(member => [member, file] as const)))
  const numbers = new Map([...fileOf.keys()].map((chunk, at) => [chunk, at.toString(36)]))
  const renamed = (name: string, chunk: string) => `${name}_${numbers.get(chunk)}`
  const taking = (names: readonly string[], path: string, rename: (name: string) => string) => {
    const file = JSON.stringify(`./${path}`)
    return names.length === 0 ? `import ${file}` : `export { ${names.map(rename).join(', ')} } from ${file}`
  }
  return {
    name: 'joining',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, importer, namespace, kind }) => {
        const name = basename(path)
        if (kind === 'entry-point')
          return files.has(name) ? { path: name, namespace: 'joined' } : { path: join(from, name) }
        if (kind === 'dynamic-import' || namespace === 'link') return { path, external: true }
        const user = basename(importer)
        const isInside = namespace === 'joined' || fileOf.get(user) === fileOf.get(name)
        return isInside ? { path: join(from, name) } : { path: join(user, name), namespace: 'link' }
      })
      onLoad({ filter: /./, namespace: 'joined' }, ({ path: file }) => ({
        contents: files
          .get(file)!
          .map(chunk => taking(exported.get(chunk)!, chunk, name => `${name} as ${renamed(name, chunk)}`))
          .join('\n'),
        resolveDir: from,
      }))
      onLoad({ filter: /./, namespace: 'link' }, async ({ path }) => {
        const [user, chunk] = [dirname(path), basename(path)]
        const used = namesTaken(await readFile(join(from, user), 'utf8'), chunk)
        const contents = taking(used, fileOf.get(chunk)!, name => `${renamed(name, chunk)} as ${name}`)
        return { contents, resolveDir: from }
      })
    },
  }
}

/** The names that a chunk imports of another one, in the one form that esbuild writes. */
const namesTaken = (code: string, from: string) =>
  [...code.matchAll(/import\{([^}]*)\}from"\.\/([^"]+)"/g)]
    .filter(([, , path]) => path === from)
    .flatMap(([, names]) => names!.split(',').map(name => name.trim().split(' ')[0]!))

/** Copies the licences of the packages whose code is in the bundle. */
async function copyLicences(files: readonly string[], to: string): Promise<void> {
  const packages = new Set(files.flatMap(path => /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path)?.[1] ?? []))
  for (const path of packages) {
    const from = join(compiled, path)
    const licence = (await readdir(from)).find(name => /^licen[cs]e/i.test(name))
    if (!licence) throw new Error(`${path} is taken into the bundle, and has no licence`)
    const [name] = path.split('node_modules/').slice(-1)
    await copyFile(join(from, licence), join(to, `${name!.replace('/', '__')}.LICENSE`))
  }
}
